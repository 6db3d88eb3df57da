/**
 * Carries the requests of the generated Kubernetes client over one pool of keep-alive connections with our own CA.
 * The client's own way opens a TLS connection per request, which costs several times the CPU.
 */
import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent, request as openRequest } from "node:https";
import { type RequestContext, ResponseContext } from "@kubernetes/client-node/dist/gen/index.js";

const LIMITS = {
  connectMs: 1_000,
  /** How long a connection may be silent while an answer is due. */
  silenceMs: 2_000,
  /** Below the relay's own 75 s, so that it is never the relay that closes a connection we are about to use. */
  idleMs: 60_000,
} as const;
/**
 * Requests of one process under way at once; the others wait their turn without a time limit of their own. Ten functions
 * in a storm stay below what the relay takes from one user (256), and aren't held up by their own TLS handshakes.
 */
const MAX_SOCKETS = 16;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** No complete answer came: whether the request took effect is unknown. */
export class RequestUnanswered extends Error {
  override readonly name = "RequestUnanswered";
}

export interface KubeTransport {
  /**
   * One request, sent once more on a fresh connection if no answer came: a pooled connection may have died unseen.
   * Writes too, for all of ours may run twice (UID or resourceVersion preconditions, fixed Event names).
   * @throws RequestUnanswered after the second failure, or as soon as `signal` is aborted.
   */
  send(request: RequestContext, signal: AbortSignal): Promise<ResponseContext>;
  close(): void;
}

/**
 * @param ca one or more PEM certificates; nothing else is trusted.
 * @param limits in milliseconds; other than the default only where a test can't wait.
 */
export function openTransport(ca: string, limits: TransportLimits = LIMITS): KubeTransport {
  const pool = new Agent({
    ca,
    keepAlive: true,
    scheduling: "lifo",
    maxSockets: MAX_SOCKETS,
    maxFreeSockets: MAX_SOCKETS,
    timeout: limits.idleMs,
  });
  return {
    async send(request, signal) {
      const route = { ca, signal, limits };
      try {
        return await sendOnce(request, { ...route, agent: pool });
      } catch {
        // The second try tells what is wrong; under an aborted signal it fails before it connects.
      }
      try {
        return await sendOnce(request, { ...route, agent: false });
      } catch (error) {
        throw unanswered(request, error);
      }
    },
    close: () => pool.destroy(),
  };
}

export type TransportLimits = Readonly<Record<keyof typeof LIMITS, number>>;

interface Route {
  readonly limits: TransportLimits;
  readonly ca: string;
  readonly signal: AbortSignal;
  /** `false` gives a connection of its own. */
  readonly agent: Agent | false;
}

function sendOnce(request: RequestContext, { limits, ...route }: Route): Promise<ResponseContext> {
  const { promise, resolve, reject } = Promise.withResolvers<ResponseContext>();
  const given = request.getBody();
  const body = typeof given === "string" ? given : "";
  const outgoing = openRequest(request.getUrl(), {
    method: request.getHttpMethod(),
    // Without a length Node sends the body of a DELETE unannounced, and the server reads it as the next request.
    headers: { ...request.getHeaders(), "Content-Length": Buffer.byteLength(body) },
    timeout: limits.silenceMs,
    ...route,
  });
  outgoing.on("error", reject);
  outgoing.on("timeout", () => outgoing.destroy(new Error(`no word for ${limits.silenceMs} ms`)));
  outgoing.on("response", (incoming) => void readAnswer(incoming).then(resolve, reject));
  limitConnecting(outgoing, limits.connectMs);
  outgoing.end(body);
  return promise;
}

function limitConnecting(outgoing: ClientRequest, ms: number): void {
  outgoing.on("socket", (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => outgoing.destroy(new Error(`no connection after ${ms} ms`)), ms);
    socket.once("secureConnect", () => clearTimeout(timer));
    socket.once("close", () => clearTimeout(timer));
  });
}

async function readAnswer(incoming: IncomingMessage): Promise<ResponseContext> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError("reading an answer: not bytes");
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error(`reading an answer: more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : `${value}`,
    ]),
  );
  const body = { text: async () => bytes.toString("utf8"), binary: async () => bytes, stream: () => null };
  return new ResponseContext(incoming.statusCode ?? 0, headers, body);
}

/** Names method and path only: a URL's query or a header could hold what must not be logged. */
function unanswered(request: RequestContext, cause: unknown): RequestUnanswered {
  const path = new URL(request.getUrl()).pathname;
  const reason = cause instanceof Error ? cause.message : "unknown";
  return new RequestUnanswered(`${request.getHttpMethod()} ${path} was not answered: ${reason}`, { cause });
}
