/** How punctual running agents are, as others see it: by the Leases in the API server, and by the agent's own pages. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { FENCING_LEASE_NAMESPACE } from "../../shared/domain/fencing-lease.ts";
import type { ControlPlane } from "../rig/control-plane.ts";
import { NODE_NAME } from "./agents-bed.ts";
import type { AgentPages } from "./agents-pages.ts";

const LEASE_EVERY_MILLISECONDS = 1_000;
/** As often as the quickest loop turns. */
const POLL_MILLISECONDS = 100;

const leaseSchema = z.object({ spec: z.object({ renewTime: z.iso.datetime().transform(Date.parse) }) });

/** Milliseconds between renewals that the API server accepted, by the clock of the agent. */
export async function gapsOfRenewals(cluster: ControlPlane, forMilliseconds: number): Promise<readonly number[]> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${FENCING_LEASE_NAMESPACE}/leases/${NODE_NAME}`;
  const times = new Set<number>();
  const end = performance.now() + forMilliseconds;
  while (performance.now() < end) {
    times.add(leaseSchema.parse((await cluster.api.call({ method: "GET", path })).body).spec.renewTime);
    await sleep(LEASE_EVERY_MILLISECONDS);
  }
  const sorted = [...times].toSorted((a, b) => a - b);
  return sorted.slice(1).map((time, index) => time - (sorted[index] ?? time));
}

/** Milliseconds by which an early-oom was late, for each of its turns that was met; a few are missed. */
export async function latenessOf(pages: AgentPages, forMilliseconds: number): Promise<readonly number[]> {
  const late: number[] = [];
  let seen = -1;
  const end = performance.now() + forMilliseconds;
  while (performance.now() < end) {
    const [turns = 0, seconds = 0] = await pages.metrics("early_oom_loop_turns_total", "early_oom_loop_late_seconds");
    if (turns !== seen) late.push(seconds * 1_000);
    seen = turns;
    await sleep(POLL_MILLISECONDS);
  }
  return late;
}
