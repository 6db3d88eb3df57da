/**
 * Serves the embedded Kubernetes API over TLS on loopback, for programs and demos without a real API server. Whoever
 * asks is believed: any token and any impersonation will do.
 */
import { once } from "node:events";
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import { text } from "node:stream/consumers";
import type { ClusterModel } from "./cluster-model.ts";
import { type KubeApi, kubeApi } from "./kube-api.ts";

export interface EmbeddedApi extends AsyncDisposable {
  readonly url: string;
  readonly counts: KubeApi["counts"];
  stop(): Promise<void>;
}

/** @param tls PEMs of the certificate for 127.0.0.1; without it, plain http. */
export async function serveKubeApi(model: ClusterModel, tls?: { cert: string; key: string }): Promise<EmbeddedApi> {
  const api = kubeApi(model);
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    respond(api, request, response).catch(() => response.destroy());
  };
  const server = tls ? createServer(tls, listener) : createPlainServer(listener);
  // Longer than our clients keep an idle connection, as the real one does.
  server.keepAliveTimeout = 90_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("listening: no port");
  const stop = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  const url = `${tls ? "https" : "http"}://127.0.0.1:${address.port}`;
  return { url, counts: api.counts, stop, [Symbol.asyncDispose]: stop };
}

async function respond(api: KubeApi, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const answer = api.answer({ method: request.method ?? "", target: request.url ?? "", body });
  response.writeHead(answer.code, { "Content-Type": "application/json" }).end(JSON.stringify(answer.body));
}
