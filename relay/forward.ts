/**
 * Passes one allowed request on to the API server under another name, and its answer back, both as streams. Only
 * headers on a list go up: what impersonates, authenticates, upgrades or tells of other proxies stays behind because
 * it isn't on it.
 */
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { answerStatus, type OwnStatus } from "./answer.ts";
import type { ApiServer } from "./api-server.ts";

const PASSED_UP = ["accept", "accept-encoding", "content-type", "content-length", "user-agent"] as const;
/** Hop-by-hop: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
const KEPT_HERE: ReadonlySet<string> = new Set(
  "connection keep-alive proxy-connection proxy-authenticate te trailer transfer-encoding upgrade www-authenticate".split(
    " ",
  ),
);

const CALLER_GONE = "the caller went away";
const TIME_UP = "the time is up";

export interface ForwardLimits {
  readonly maxBodyBytes: number;
  readonly requestSeconds: number;
  readonly watchSeconds: number;
}

/** How it ended: the status that the caller got, or that the caller went away. */
export type Forwarded =
  | { readonly kind: "answered"; readonly status: number }
  | { readonly kind: "failed"; readonly status: OwnStatus; readonly because: string }
  | { readonly kind: "caller-gone" };

export interface Forwarding {
  readonly apiServer: ApiServer;
  readonly limits: ForwardLimits;
  /** The Kubernetes user to speak as. */
  readonly user: string;
  readonly watch: boolean;
}

/** Never throws; if the API server can't be reached or goes silent the caller hears 502 or 504. */
export async function forward(request: IncomingMessage, response: ServerResponse, how: Forwarding): Promise<Forwarded> {
  // While STS was asked: nobody would hear the answer, and "close" doesn't come a second time.
  if (response.destroyed) return { kind: "caller-gone" };
  const bodyFault = faultOfBody(request, how.limits.maxBodyBytes);
  if (bodyFault !== undefined) return fail(response, bodyFault.status, bodyFault.because);

  const end = endOf(response, how.watch ? how.limits.watchSeconds : how.limits.requestSeconds);
  let upstream: ClientRequest | undefined;
  try {
    upstream = openUpstream(request, how, end);
    const answer = await exchange(request, upstream);
    const status = answer.statusCode ?? 502;
    if (status === 401) {
      answer.destroy();
      // The caller has shown who it is; it is our own token that was refused, and a later one may be good.
      return fail(response, 503, "the API server refused the relay's own credentials");
    }
    response.writeHead(status, headersDown(answer));
    // A watch without events yet: the caller wants to know that it stands.
    response.flushHeaders();
    await pipeline(answer, response);
    return { kind: "answered", status };
  } catch (error) {
    if (end.reason === CALLER_GONE) return { kind: "caller-gone" };
    if (end.reason === TIME_UP) return fail(response, 504, "the API server did not answer in time");
    return fail(response, 502, `reaching the API server: ${error instanceof Error ? error.message : "failed"}`);
  } finally {
    // Answered before the body was complete: the rest will never be sent, and the connection would wait for it forever.
    if (!request.complete) upstream?.destroy();
  }
}

/** Aborted when the caller goes away before its answer is complete, or when the time is up. */
function endOf(response: ServerResponse, seconds: number): AbortSignal {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(TIME_UP), seconds * 1000);
  response.once("close", () => {
    clearTimeout(timer);
    if (!response.writableFinished) end.abort(CALLER_GONE);
  });
  return end.signal;
}

/** The signal ends both directions at any time. */
function openUpstream(request: IncomingMessage, how: Forwarding, signal: AbortSignal): ClientRequest {
  const { method = "", url: target = "" } = request;
  return how.apiServer.request({ method, target, headers: headersUp(request, how.user), signal });
}

/** Sends the body and gives the beginning of the answer. */
function exchange(request: IncomingMessage, upstream: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  upstream.on("response", resolve);
  upstream.on("error", reject);
  // pipe, not pipeline: that would destroy the caller's socket when the API server fails, and 502 couldn't be said.
  if (bodyLength(request) === 0) upstream.end();
  else request.pipe(upstream);
  return promise;
}

/**
 * A body must say its length: Node sends a chunked body of a DELETE on without any framing, which the API server
 * would read as the next request.
 */
function faultOfBody(request: IncomingMessage, limit: number): { status: OwnStatus; because: string } | undefined {
  if (request.headers["transfer-encoding"] !== undefined) return { status: 411, because: "a body needs its length" };
  const length = bodyLength(request);
  if (length > limit) return { status: 413, because: `the body is longer than ${limit} bytes` };
  if (length > 0 && request.method === "GET") return { status: 400, because: "a GET has no body" };
  return undefined;
}

/** Node's parser has refused a length that is no number, and counts the bytes. */
function bodyLength(request: IncomingMessage): number {
  return Number(request.headers["content-length"] ?? "0");
}

function headersUp(request: IncomingMessage, user: string): OutgoingHttpHeaders {
  const passed = PASSED_UP.map((name) => [name, request.headers[name]] as const);
  return { ...Object.fromEntries(passed.filter(([, value]) => value !== undefined)), "impersonate-user": user };
}

function headersDown(answer: IncomingMessage): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !KEPT_HERE.has(name)));
}

function fail(response: ServerResponse, status: OwnStatus, because: string): Forwarded {
  if (response.headersSent) response.destroy();
  else answerStatus(response, status, because);
  return { kind: "failed", status, because };
}
