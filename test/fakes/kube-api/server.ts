/**
 * Serves the embedded Kubernetes API over TLS on loopback, for programs and demos without a real API server. Whoever
 * asks is believed: any token will do, and impersonation is only recorded.
 */
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { ClusterModel } from "./cluster-model.ts";
import { type KubeApi, kubeApi } from "./kube-api.ts";

/** How often the kubelets look, so that a live view sees pods go without a request. */
const KUBELET_MS = 100;

export interface EmbeddedApi extends AsyncDisposable {
  readonly url: string;
  readonly counts: KubeApi["counts"];
  /** Users named by Impersonate-User headers so far. */
  readonly impersonated: ReadonlySet<string>;
  stop(): Promise<void>;
}

/** @param tls PEMs of the certificate for 127.0.0.1; without it, plain http. */
export async function serveKubeApi(model: ClusterModel, tls?: { cert: string; key: string }): Promise<EmbeddedApi> {
  const api = kubeApi(model);
  const impersonated = new Set<string>();
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const user = request.headers["impersonate-user"];
    if (typeof user === "string") impersonated.add(user);
    respond(api, request, response).catch(() => response.destroy());
  };
  const server = tls ? createServer(tls, listener) : createPlainServer(listener);
  // Longer than our clients keep an idle connection, as the real one does.
  server.keepAliveTimeout = 90_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const kubelets = setInterval(() => model.settle(), KUBELET_MS);
  const stop = async () => {
    clearInterval(kubelets);
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return {
    url: `${tls ? "https" : "http"}://127.0.0.1:${portOf(server.address())}`,
    counts: api.counts,
    impersonated,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function respond(api: KubeApi, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const answer = api.answer({ method: request.method ?? "", target: request.url ?? "", body });
  response.writeHead(answer.code, { "Content-Type": "application/json" }).end(JSON.stringify(answer.body));
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("listening: no port");
  return address.port;
}
