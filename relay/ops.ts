/**
 * The second port, for the kubelet and Prometheus: plain HTTP, no secrets, nothing to change. Ready means that a
 * caller who is known would be served; STS isn't asked, since cached verdicts go on without it.
 */
import * as http from "node:http";
import type { Metrics } from "./metrics.ts";

export interface OpsParts {
  readonly version: string;
  readonly metrics: Pick<Metrics, "registry">;
  /** Undefined when ready, else what is missing. */
  readonly notReadyBecause: () => Promise<string | undefined>;
}

/** The kubelet, a load balancer's checks and a few scrapers; whoever opens more costs us neither memory nor handles. */
const MAX_CONNECTIONS = 100;
const REQUEST_MS = 5_000;
const LATE_CHECK_MS = 1_000;

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
}

export function createOps(parts: OpsParts): http.Server {
  const times = { requestTimeout: REQUEST_MS, connectionsCheckingInterval: LATE_CHECK_MS };
  const server = http.createServer(times, (request, response) => {
    answerTo(parts, request.url ?? "").then(
      ({ status, type = "text/plain", body }) => response.writeHead(status, { "content-type": type }).end(body),
      () => response.destroy(),
    );
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

async function answerTo(parts: OpsParts, path: string): Promise<Answer> {
  switch (path) {
    case "/healthz":
      return { status: 200, body: "ok\n" };
    case "/readyz": {
      const because = await parts.notReadyBecause();
      return because === undefined ? { status: 200, body: "ok\n" } : { status: 503, body: `not ready: ${because}\n` };
    }
    case "/version": {
      const body = JSON.stringify({ version: parts.version, node: process.version });
      return { status: 200, type: "application/json", body };
    }
    case "/metrics": {
      const registry = parts.metrics.registry;
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    }
    default:
      return { status: 404, body: "not found\n" };
  }
}
