/**
 * The Kubernetes API as an agent reaches it: the pod's own service account over node:https, one kept connection. A
 * client library would cost 40 MB on every node. What isn't an answer is a value too, never an exception.
 */
import { readFileSync, statSync } from "node:fs";
import { Agent, request } from "node:https";
import { reasonOf } from "./log.ts";

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT";
  /** Path and query, already encoded. */
  readonly path: string;
  readonly body?: unknown;
  /** From now to the last byte of the answer, connecting included. */
  readonly timeoutMs: number;
}

export type ApiAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly body: string }
  /** Nobody knows whether the API server did it: refused, unroutable, reset, timed out, too large. */
  | { readonly kind: "unanswered"; readonly because: string };

export interface ApiServer {
  call(asked: ApiRequest): Promise<ApiAnswer>;
  /** Closes what is kept open. */
  close(): void;
}

export interface ApiServerOptions {
  readonly url: string;
  /** Folder with `token` and `ca.crt`, which the kubelet renews while we run. */
  readonly credentials: string;
  /** Larger answers are cut off: "unanswered". */
  readonly maxAnswerBytes?: number;
}

/** A list of 250 pods with long specs stays below it. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Below the time after which load balancers and the API server drop a silent connection. */
const FREE_SOCKET_MS = 30_000;

export function connectApiServer(options: ApiServerOptions): ApiServer {
  const { hostname, port } = new URL(options.url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const limit = options.maxAnswerBytes ?? MAX_ANSWER_BYTES;
  const token = watchedFile(`${options.credentials}/token`);
  const ca = watchedFile(`${options.credentials}/ca.crt`);
  let agent: { readonly ca: string; readonly https: Agent } | undefined;

  const agentFor = (pem: string) => {
    if (agent?.ca === pem) return agent.https;
    agent?.https.destroy();
    agent = { ca: pem, https: new Agent({ keepAlive: true, maxSockets: 4, timeout: FREE_SOCKET_MS, ca: pem }) };
    return agent.https;
  };

  return {
    call({ method, path, body, timeoutMs }) {
      const { promise, resolve } = Promise.withResolvers<ApiAnswer>();
      const fail = (error: unknown) => resolve({ kind: "unanswered", because: reasonOf(error) });
      try {
        const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
        const asked = request({
          agent: agentFor(ca()),
          signal: AbortSignal.timeout(timeoutMs),
          host,
          port: port === "" ? 443 : Number(port),
          method,
          path,
          headers: {
            accept: "application/json",
            authorization: `Bearer ${token().trim()}`,
            ...(payload ? { "content-type": "application/json", "content-length": payload.length } : {}),
          },
        });
        asked.on("error", fail);
        asked.on("response", (response) => {
          const chunks: Buffer[] = [];
          let size = 0;
          response.on("data", (chunk: Buffer) => {
            size += chunk.length;
            if (size > limit) response.destroy(new Error(`the answer is larger than ${limit} bytes`));
            else chunks.push(chunk);
          });
          response.on("error", fail);
          response.on("end", () =>
            resolve({ kind: "answered", status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
          );
        });
        asked.end(payload);
      } catch (error) {
        fail(error);
      }
      return promise;
    },
    close: () => agent?.https.destroy(),
  };
}

/** The file's text, read again when it was renewed (the kubelet swaps a symbolic link). */
function watchedFile(path: string): () => string {
  let seen: { readonly mark: string; readonly text: string } | undefined;
  return () => {
    const { mtimeMs, ino } = statSync(path);
    const mark = `${ino}/${mtimeMs}`;
    if (seen?.mark !== mark) seen = { mark, text: readFileSync(path, "utf8") };
    return seen.text;
  };
}

/** Base URL of the cluster's API as the kubelet tells every pod; undefined outside a cluster. */
export function inClusterUrl(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const host = env.KUBERNETES_SERVICE_HOST;
  if (!host) return undefined;
  const bracketed = host.includes(":") ? `[${host}]` : host;
  return `https://${bracketed}:${env.KUBERNETES_SERVICE_PORT ?? "443"}`;
}
