/** Callers of a relay: one that speaks proper HTTP, and one that writes whatever bytes the test wants. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import * as https from "node:https";
import { text } from "node:stream/consumers";
import * as tls from "node:tls";

export interface Target {
  readonly port: number;
  readonly ca: string;
}

export interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly token?: string;
  readonly signal?: AbortSignal;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

const WITHIN_MS = 10_000;

/** Opens a request on a connection of its own, gives the beginning of the answer. */
export async function open(target: Target, asked: Asked): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = https.request({
    host: "127.0.0.1",
    port: target.port,
    ca: target.ca,
    agent: false,
    signal: asked.signal ?? AbortSignal.timeout(WITHIN_MS),
    method: asked.method ?? "GET",
    path: asked.path ?? "/api/v1/nodes",
    headers: {
      ...(asked.token === undefined ? {} : { authorization: `Bearer ${asked.token}` }),
      ...(asked.body === undefined ? {} : { "content-length": Buffer.byteLength(asked.body) }),
      ...asked.headers,
    },
  });
  request.on("response", resolve);
  request.on("error", reject);
  request.end(asked.body);
  return promise;
}

export async function ask(target: Target, asked: Asked): Promise<Answered> {
  const response = await open(target, asked);
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

/** Sends raw bytes over TLS and gives all that comes back until the other side closes, or after `waitMs`. */
export async function sendRaw(target: Target, bytes: string, waitMs = WITHIN_MS): Promise<string> {
  const socket = tls.connect({ host: "127.0.0.1", port: target.port, ca: target.ca });
  await once(socket, "secureConnect");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => {});
  socket.setTimeout(waitMs, () => socket.destroy());
  socket.write(bytes, "latin1");
  await once(socket, "close");
  return Buffer.concat(chunks).toString("latin1");
}
