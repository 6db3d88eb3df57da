/** Carries out a wave: evictions in parallel, deletions past a budget whose patience is over, and shortened graces. */
import pLimit from "p-limit";
import { podName } from "../../../shared/domain/pod.ts";
import type { DeletionAnswer, EvictionAnswer } from "../../../shared/ports/cluster.ts";
import type { Eviction, Tightening } from "../decide/evictions.ts";
import type { DrainTools } from "../tools.ts";

/** Requests of one node's wave under way at once; the transport bounds them all together. */
const WAVE_WIDTH = 16;

export interface Evicted {
  readonly eviction: Eviction;
  readonly answer: EvictionAnswer;
  /** Whether the pod was deleted after its budget refused. */
  readonly pastBudget: boolean;
}

export async function evictPods(evictions: readonly Eviction[], tools: DrainTools): Promise<readonly Evicted[]> {
  const limit = pLimit(WAVE_WIDTH);
  return Promise.all(evictions.map((eviction) => limit(() => evictOne(eviction, tools))));
}

/** The budget is asked every time, also when its patience is over: it may have room by now. */
async function evictOne(eviction: Eviction, tools: DrainTools): Promise<Evicted> {
  const { pod, graceSeconds, pastBudgetGraceSeconds } = eviction;
  const answer = await tools.cluster.evictPod(pod, graceSeconds);
  if (answer.kind === "refused") tools.note({ kind: "pod-failed", pod: podName(pod), because: answer.because });
  if (answer.kind !== "blocked" || pastBudgetGraceSeconds === undefined) return { eviction, answer, pastBudget: false };

  const deletion = await deleteOne({ pod, graceSeconds: pastBudgetGraceSeconds }, tools);
  if (deletion.kind === "deleted") return { eviction, answer, pastBudget: true };
  return { eviction, answer: deletion, pastBudget: false };
}

/** Deletes terminating pods again with less grace: the API only ever shortens it. */
export async function tightenPods(
  tightenings: readonly Tightening[],
  tools: DrainTools,
): Promise<readonly DeletionAnswer[]> {
  const limit = pLimit(WAVE_WIDTH);
  return Promise.all(tightenings.map((tightening) => limit(() => deleteOne(tightening, tools))));
}

async function deleteOne({ pod, graceSeconds }: Tightening, tools: DrainTools): Promise<DeletionAnswer> {
  const answer = await tools.cluster.deletePod(pod, graceSeconds);
  if (answer.kind === "refused") tools.note({ kind: "pod-failed", pod: podName(pod), because: answer.because });
  return answer;
}
