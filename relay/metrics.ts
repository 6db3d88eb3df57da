/** What the relay counts. Every label has few values: users and resources of the table, verbs, codes, fixed reasons. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** Answers to function calls are a matter of milliseconds; above 2 s the caller has given up. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 30];

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    requests: new Counter({
      registers,
      name: "nodekeeper_relay_requests_total",
      help: "Requests that were passed on, by user, verb, resource and the status that the caller got.",
      labelNames: ["user", "verb", "resource", "code"],
    }),
    duration: new Histogram({
      registers,
      name: "nodekeeper_relay_request_duration_seconds",
      help: "Seconds from a request's headers to the end of its answer, watches left out.",
      labelNames: ["verb"],
      buckets: DURATION_BUCKETS,
    }),
    refusals: new Counter({
      registers,
      name: "nodekeeper_relay_refusals_total",
      help: "Requests that were not passed on, by reason.",
      labelNames: ["reason"],
    }),
    inFlight: new Gauge({
      registers,
      name: "nodekeeper_relay_requests_in_flight",
      help: "Requests passed on and not yet ended, by user.",
      labelNames: ["user"],
    }),
    stsCalls: new Counter({
      registers,
      name: "nodekeeper_relay_sts_calls_total",
      help: "Calls to STS by outcome: caller, refused, unavailable.",
      labelNames: ["outcome"],
    }),
    cacheHits: new Counter({
      registers,
      name: "nodekeeper_relay_token_cache_hits_total",
      help: "Tokens whose verdict was still known.",
    }),
    reloads: new Counter({
      registers,
      name: "nodekeeper_relay_file_reloads_total",
      help: "Files that changed under the relay, by file and result: loaded, refused.",
      labelNames: ["file", "result"],
    }),
  };
}
