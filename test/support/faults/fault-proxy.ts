/**
 * A proxy that stands before an API server, real or embedded, and does to requests what networks and busy servers do:
 * refuses, delays, cuts connections before or after the work was done. TLS on both sides, on loopback.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request as openRequest } from "node:https";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Fault, FaultChooser, type FaultRule, type MetRule } from "./faults.ts";

export interface FaultProxySettings {
  /** The API server behind: base URL and the PEM of its authority. */
  readonly upstream: { readonly url: string; readonly ca: string };
  /** PEMs of the proxy's own certificate for 127.0.0.1. */
  readonly tls: { readonly cert: string; readonly key: string };
  readonly rules?: readonly FaultRule[];
  readonly seed?: number;
}

export interface FaultProxy extends AsyncDisposable {
  readonly url: string;
  /** How often it did what: kinds of faults, and `forwarded`. */
  readonly counts: ReadonlyMap<Fault["kind"] | "forwarded", number>;
  /** Each rule of those set last, and how many requests it was applied to. */
  met(): readonly MetRule[];
  /** How many connections were opened to it. */
  connections(): number;
  setRules(rules: readonly FaultRule[]): void;
  stop(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer | string;
}

export async function startFaultProxy({
  upstream,
  tls,
  rules = [],
  seed = 1,
}: FaultProxySettings): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true, ca: upstream.ca });
  const chooser = new FaultChooser(seed);
  chooser.replace(rules);
  const counts = new Map<Fault["kind"] | "forwarded", number>();
  const count = (what: Fault["kind"] | "forwarded") => counts.set(what, (counts.get(what) ?? 0) + 1);
  const stopped = new AbortController();
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopped.signal });
  let connections = 0;

  async function answer(incoming: IncomingMessage): Promise<Answer | "reset"> {
    const body = await buffer(incoming);
    const fault = chooser.choose(incoming.method ?? "", incoming.url ?? "");
    if (fault) count(fault.kind);
    if (fault?.kind === "answer") return refusal(fault);
    if (fault?.kind === "reset-before") return "reset";
    if (fault?.kind === "delay") await pause(fault.ms);
    count("forwarded");
    const forwarded = await forward(incoming, body, upstream.url, agent);
    if (fault?.kind === "late-answer") await pause(fault.ms);
    return fault?.kind === "reset-after" ? "reset" : forwarded;
  }

  const server = createServer({ ...tls, keepAliveTimeout: 90_000 }, (incoming, response) => {
    answer(incoming).then(
      (said) => reply(said, incoming, response),
      () => incoming.socket.destroy(),
    );
  });
  server.on("secureConnection", () => connections++);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("listening: no port");
  const stop = async () => {
    stopped.abort();
    agent.destroy();
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return {
    url: `https://127.0.0.1:${address.port}`,
    counts,
    met: () => chooser.met(),
    connections: () => connections,
    setRules: (next) => chooser.replace(next),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function reply(said: Answer | "reset", incoming: IncomingMessage, response: ServerResponse): void {
  if (said === "reset") incoming.socket.destroy();
  else response.writeHead(said.status, said.headers).end(said.body);
}

/** In the shape of the API server's own: 429 of priority and fairness is plain text. */
function refusal({ status, retryAfterSeconds }: Extract<Fault, { kind: "answer" }>): Answer {
  const retry = retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
  if (status === 429) {
    const headers = { ...retry, "Content-Type": "text/plain" };
    return { status, headers, body: "Too many requests, please try again later.\n" };
  }
  const reason = { 409: "Conflict", 500: "InternalError", 503: "ServiceUnavailable" }[status];
  const message = "injected by the fault proxy";
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, message, code: status };
  return { status, headers: { ...retry, "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

function forward(incoming: IncomingMessage, body: Buffer, base: string, agent: Agent): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { host: _, connection: __, "transfer-encoding": ___, ...headers } = incoming.headers;
  const outgoing = openRequest(
    new URL(incoming.url ?? "", base),
    { method: incoming.method, agent, headers: { ...headers, "content-length": body.length } },
    (upstream) => {
      const { connection: _, "transfer-encoding": __, ...kept } = upstream.headers;
      const status = upstream.statusCode ?? 502;
      buffer(upstream).then(
        (bytes) => resolve({ status, headers: { ...kept, "content-length": String(bytes.length) }, body: bytes }),
        reject,
      );
    },
  );
  outgoing.on("error", reject);
  outgoing.end(body);
  return promise;
}
