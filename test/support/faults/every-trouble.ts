/** What can go wrong between a relay and an API server, as rules for the fault proxy: each kind for the requests it hurts. */
import { nodeName } from "../real-cluster.ts";
import type { FaultRule } from "./faults.ts";

/** The node whose list of pods isn't answered for a while. */
export const SILENT_NODE = 3;

/** In this order, so that each has its turn before those for everything. */
export const EVERY_TROUBLE: readonly FaultRule[] = [
  // Longer than the client waits, and often enough that both tries of one step meet it, though two steps ask at once.
  {
    method: "GET",
    path: /pods$/,
    query: new RegExp(`spec\\.nodeName=${nodeName(SILENT_NODE)}(&|$)`),
    fault: { kind: "delay", ms: 4_000 },
    times: 4,
  },
  { method: "PATCH", fault: { kind: "answer", status: 409 }, times: 4 },
  { method: "POST", path: /eviction$/, fault: { kind: "answer", status: 429, retryAfterSeconds: 1 }, times: 2 },
  { method: "POST", path: /eviction$/, fault: { kind: "answer", status: 500 }, times: 2 },
  { method: "POST", path: /eviction$/, fault: { kind: "reset-before" }, times: 3 },
  { method: "POST", path: /eviction$/, fault: { kind: "reset-after" }, times: 3 },
  { method: "POST", path: /eviction$/, fault: { kind: "late-answer", ms: 4_000 }, times: 2 },
  { method: "PATCH", fault: { kind: "reset-after" }, times: 3 },
  { method: "GET", fault: { kind: "reset-before" }, times: 3 },
  { method: "GET", path: /pods$/, fault: { kind: "answer", status: 503 }, times: 3 },
  { probability: 0.03, fault: { kind: "answer", status: 500 }, times: 20 },
];
