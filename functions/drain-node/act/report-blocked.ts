/** Reports what budgets refused: the first refusal goes into the record, the pod gets an Event that names the budget. */
import type { DrainRecord } from "../../../shared/domain/drain-record.ts";
import { type Pod, podName } from "../../../shared/domain/pod.ts";
import { isClusterError } from "../../../shared/ports/cluster.ts";
import { recordTier } from "../decide/evictions.ts";
import type { Drain } from "../drain.ts";
import type { DrainTools } from "../tools.ts";
import type { Evicted } from "./evict-pods.ts";
import { tellBlocked, tellDeletedPastBudget } from "./tell.ts";
import { writeRecord } from "./write-record.ts";

const UNNAMED = "unnamed";

/** Gives the pods that stay for now. */
export async function reportBlocked(
  evicted: readonly Evicted[],
  drain: Drain,
  tools: DrainTools,
): Promise<readonly Pod[]> {
  const blocked = evicted.filter((one) => one.answer.kind === "blocked");
  const staying = blocked.filter((one) => !one.pastBudget);
  await Promise.all([
    rememberFirstRefusals(staying, drain, tools),
    ...blocked.map((one) => reportOne(one, drain, tools)),
  ]);
  return staying.map((one) => one.eviction.pod);
}

async function reportOne({ eviction, answer, pastBudget }: Evicted, drain: Drain, tools: DrainTools): Promise<void> {
  if (answer.kind !== "blocked") return;
  const { pod } = eviction;
  const budget = answer.budget ?? (await nameBudgets(pod, tools));
  if (pastBudget) {
    tools.note({
      kind: "deleted-past-budget",
      pod: podName(pod),
      budget,
      graceSeconds: eviction.pastBudgetGraceSeconds,
    });
    return tellDeletedPastBudget({ pod, budget }, drain, tools);
  }
  tools.note({ kind: "eviction-blocked", pod: podName(pod), budget, because: answer.because });
  return tellBlocked({ pod, budget }, drain, tools);
}

/** The answer of two budgets at once names neither; a name is worth one question, and no drain fails for it. */
async function nameBudgets(pod: Pod, { cluster }: DrainTools): Promise<string> {
  try {
    return (await cluster.listBudgetNames(pod.namespace, pod.labels)).join(", ") || UNNAMED;
  } catch (error) {
    if (isClusterError(error)) return UNNAMED;
    throw error;
  }
}

async function rememberFirstRefusals(blocked: readonly Evicted[], drain: Drain, tools: DrainTools): Promise<void> {
  const tiers = new Set(blocked.map((one) => recordTier(one.eviction.tier)));
  if (tiers.size === 0) return;
  const at = tools.clock.now().toISOString();
  const refusals = Object.fromEntries([...tiers].map((tier) => [tier, at]));
  const next = (record: DrainRecord): DrainRecord => ({
    ...record,
    blockedSince: { ...refusals, ...record.blockedSince },
  });
  await writeRecord(drain.node, { next }, tools);
}
