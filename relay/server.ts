/**
 * The relay's story for one request: who is calling, may they, forward. Each step that says no answers with a
 * Kubernetes Status and is counted by its reason.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import * as https from "node:https";
import { Socket } from "node:net";
import { answerStatus } from "./answer.ts";
import type { ApiServer } from "./api-server.ts";
import { authorize } from "./authorize.ts";
import { type ForwardLimits, forward } from "./forward.ts";
import type { IdentityMap } from "./identities.ts";
import { InFlightLimit } from "./limits.ts";
import { type Log, reasonOf } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Role } from "./permissions.ts";
import { sourceOf } from "./source.ts";
import type { Verify } from "./verify.ts";
import { type Refusal, whoIs } from "./who.ts";

/** Above the 60 s after which callers close idle sockets, below the 350 s of a load balancer. */
const KEEP_ALIVE_MS = 75_000;
const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_MS = 5_000;
/** How often Node looks for headers and bodies that are late; its default of 30 s would void the 5 s. */
const LATE_CHECK_MS = 1_000;
const HANDSHAKE_MS = 5_000;
/** For headers and body to arrive, whatever the API server does with them. */
const RECEIVE_MS = 30_000;
const MAX_CONNECTIONS = 4_000;

export interface RelayParts {
  readonly verify: Verify;
  /** Asked on each request, so that a rotated map counts at once. */
  readonly identities: () => IdentityMap;
  readonly roles: readonly Role[];
  readonly apiServer: ApiServer;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly limits: ForwardLimits & {
    /** Requests of one Kubernetes user that are passed on at a time, watches included. */
    readonly requestsPerUser: number;
    /** Connections from one address, before anything is known about who it is. */
    readonly connectionsPerSource: number;
  };
}

/** The server, yet without a certificate (tls-files.ts) and not listening. */
export function createRelay(parts: RelayParts): https.Server {
  const perUser = new InFlightLimit(parts.limits.requestsPerUser);
  const server = https.createServer(
    {
      handshakeTimeout: HANDSHAKE_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_MS,
      requestTimeout: RECEIVE_MS,
      connectionsCheckingInterval: LATE_CHECK_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    (request, response) => {
      serve(parts, perUser, request, response).catch((error: unknown) => {
        parts.log("error", "request broke the relay's own code", { because: reasonOf(error) });
        response.destroy();
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  limitConnections(server, new InFlightLimit(parts.limits.connectionsPerSource), parts);
  return server;
}

async function serve(
  parts: RelayParts,
  perUser: InFlightLimit,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const who = await whoIs(request, parts.verify, parts.identities());
  if (who.kind === "nobody") return refuse(parts, request, response, who);

  const { method = "", url: target = "" } = request;
  const upgrade = request.headers.upgrade !== undefined;
  const may = authorize(parts.roles, who.user, { method, target, upgrade });
  if (may.kind === "refused") {
    return refuse(parts, request, response, { status: 403, reason: may.reason, because: may.because }, who.user);
  }
  if (!perUser.enter(who.user)) {
    const because = "too many requests of this user at a time";
    return refuse(parts, request, response, { status: 429, reason: "user-limit", because }, who.user);
  }

  const stopTimer = parts.metrics.duration.startTimer({ verb: may.verb });
  parts.metrics.inFlight.inc({ user: who.user });
  const watch = may.verb === "watch";
  const how = { apiServer: parts.apiServer, limits: parts.limits, user: who.user, watch };
  const ended = await forward(request, response, how).finally(() => {
    perUser.leave(who.user);
    parts.metrics.inFlight.dec({ user: who.user });
  });
  if (!watch) stopTimer();

  const code = ended.kind === "caller-gone" ? "caller-gone" : String(ended.status);
  parts.metrics.requests.inc({ user: who.user, verb: may.verb, resource: may.resource, code });
  const facts = { user: who.user, verb: may.verb, resource: may.resource, code, path: pathOf(request) };
  if (ended.kind === "failed") parts.log("warn", "request failed", { ...facts, because: ended.because });
  else parts.log("debug", "request passed on", facts);
}

function refuse(
  parts: RelayParts,
  request: IncomingMessage,
  response: ServerResponse,
  said: Refusal,
  user?: string,
): void {
  parts.metrics.refusals.inc({ reason: said.reason });
  const source = sourceOf(request.socket);
  const facts = { reason: said.reason, because: said.because, source, user, method: request.method };
  parts.log("info", "request refused", { ...facts, path: pathOf(request) });
  answerStatus(response, said.status, said.because);
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? "").split("?", 1).join("").slice(0, 200);
}

function limitConnections(server: https.Server, perSource: InFlightLimit, parts: RelayParts): void {
  server.on("connection", (socket) => {
    const source = socket instanceof Socket ? sourceOf(socket) : "";
    if (!perSource.enter(source)) {
      parts.metrics.refusals.inc({ reason: "connection-limit" });
      socket.destroy();
      return;
    }
    socket.once("close", () => perSource.leave(source));
  });
}
