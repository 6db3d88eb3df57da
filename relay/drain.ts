/**
 * How the relay goes: it says "not ready" and keeps serving until endpoints and load balancers have noticed, asks
 * callers to come back elsewhere, lets what is running end, and cuts what is left.
 */
import { once } from "node:events";
import type { Server } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";

const IDLE_CHECK_MS = 200;

export interface Drain {
  readonly started: () => boolean;
  /** Resolves when the last connection is closed: after `delaySeconds` + `drainSeconds` at the latest. */
  run(): Promise<void>;
}

export function drainOf(
  server: Server,
  times: { readonly delaySeconds: number; readonly drainSeconds: number },
): Drain {
  let started = false;
  server.prependListener("request", (_request, response) => {
    if (started) response.setHeader("connection", "close");
  });
  return {
    started: () => started,
    async run() {
      started = true;
      await sleep(times.delaySeconds * 1000);
      const closed = once(server, "close");
      server.close();
      // A connection that was busy at `close` would otherwise be kept alive for its whole idle time.
      const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
      const cut = setTimeout(() => server.closeAllConnections(), times.drainSeconds * 1000);
      await closed;
      clearInterval(idle);
      clearTimeout(cut);
    },
  };
}
