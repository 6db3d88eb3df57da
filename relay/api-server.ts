/**
 * The API server as the relay reaches it: over kept connections, with the service account's token and CA, both of
 * which are rotated while it runs.
 */
import type { ClientRequest, OutgoingHttpHeaders } from "node:http";
import * as https from "node:https";

/** Free sockets are closed well before the API server closes them, so that none is used while it goes away. */
const FREE_SOCKET_MS = 30_000;
const PROBE_MS = 2_000;
/** A probe's answer is good for so long: readiness is asked often and by anybody. */
const PROBE_CACHE_MS = 2_000;

export interface UpstreamRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: OutgoingHttpHeaders;
  readonly signal: AbortSignal;
}

export interface ApiServer {
  /** Opens a request with the relay's own token; the caller ends it and listens to it. */
  request(asked: UpstreamRequest): ClientRequest;
  /** Whether its /readyz answered 200 within 2 s; asked at most every 2 s. */
  isReachable(): Promise<boolean>;
  useCa(pem: string): void;
  useToken(token: string): void;
}

/** Reaches nobody before it was given a CA and a token. */
export function apiServerAt(url: string): ApiServer {
  const { hostname, port } = new URL(url);
  let agent = agentFor([]);
  let token = "";
  let probe: { readonly at: number; readonly answer: Promise<boolean> } | undefined;

  const server: ApiServer = {
    request: ({ method, target, headers, signal }) =>
      https.request({
        agent,
        signal,
        host: hostname.replace(/^\[|\]$/g, ""),
        port: port === "" ? 443 : port,
        method,
        path: target,
        headers: { ...headers, authorization: `Bearer ${token}` },
      }),
    isReachable: () => {
      if (probe === undefined || Date.now() - probe.at > PROBE_CACHE_MS) {
        probe = { at: Date.now(), answer: isReady(server) };
      }
      return probe.answer;
    },
    // Requests on the old agent go on; its free sockets close by their own time-out.
    useCa: (pem) => {
      agent = agentFor(pem);
    },
    useToken: (text) => {
      token = text;
    },
  };
  return server;
}

function agentFor(ca: string | []): https.Agent {
  return new https.Agent({ keepAlive: true, timeout: FREE_SOCKET_MS, ca });
}

function isReady(server: ApiServer): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_MS);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server
    .request({ method: "GET", target: "/readyz", headers: {}, signal })
    .on("response", (response) => {
      response.on("error", () => resolve(false)).resume();
      response.on("end", () => resolve(response.statusCode === 200));
    })
    .on("error", () => resolve(false))
    .end();
  return promise;
}
