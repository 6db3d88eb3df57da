/** A plain client of the rig's API server: JSON over one keep-alive agent that trusts only the rig's authority. */
import { Agent, request } from "node:https";
import { text } from "node:stream/consumers";

export interface KubeRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, as in `/api/v1/nodes?limit=1`. */
  readonly path: string;
  readonly body?: unknown;
  /** Default: application/json, or a merge patch for PATCH. */
  readonly contentType?: string;
  /** Default: the administrator's. */
  readonly token?: string;
}

export interface KubeResponse {
  readonly status: number;
  /** Parsed where it is JSON, else text. */
  readonly body: unknown;
}

export interface KubeApi {
  /** Whatever the status, the answer; rejects only when there is none within 10 s. */
  call(call: KubeRequest): Promise<KubeResponse>;
  close(): void;
}

const ANSWER_MILLISECONDS = 10_000;
/** Seeding sends many requests at once; more sockets than this only queue inside the API server. */
const MAX_SOCKETS = 32;

export function connectKubeApi(url: string, caPem: string, adminToken: string): KubeApi {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS, ca: caPem });
  return {
    close: () => agent.destroy(),
    call: ({ method, path, body, token = adminToken, contentType = defaultContentType(method) }) =>
      new Promise((resolve, reject) => {
        const payload = body === undefined ? undefined : JSON.stringify(body);
        const headers = {
          Authorization: `Bearer ${token}`,
          Accept: "application/json",
          ...(payload === undefined
            ? {}
            : { "Content-Type": contentType, "Content-Length": Buffer.byteLength(payload) }),
        };
        const signal = AbortSignal.timeout(ANSWER_MILLISECONDS);
        const outgoing = request(new URL(path, url), { method, agent, headers, signal }, (response) => {
          text(response).then(
            (answer) => resolve({ status: response.statusCode ?? 0, body: parseIfJson(answer) }),
            reject,
          );
        });
        outgoing.on("error", (cause) => reject(new Error(`calling ${method} ${path}`, { cause })));
        outgoing.end(payload);
      }),
  };
}

function defaultContentType(method: KubeRequest["method"]): string {
  return method === "PATCH" ? "application/merge-patch+json" : "application/json";
}

function parseIfJson(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    return answer;
  }
}
