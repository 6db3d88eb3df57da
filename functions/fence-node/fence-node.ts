/**
 * The story of a run: look at all Leases, write down what was seen, then deal with the nodes of which nothing is heard;
 * again every 15 s while something is silent and there is time. What must be remembered is in the cluster.
 */
import type { ClusterNode } from "../../shared/domain/node.ts";
import { policyFor } from "../../shared/domain/policy.ts";
import { isClusterError } from "../../shared/ports/cluster.ts";
import { showArmed } from "./act/show-armed.ts";
import {
  OBSERVATION_SECONDS,
  type Observations,
  observe,
  rememberFailure,
  worthKeeping,
} from "./decide/observations.ts";
import { handlePass } from "./handle-pass.ts";
import { readObservations, writeObservations } from "./observe/observation-book.ts";
import { takePass } from "./observe/take-pass.ts";
import type { FenceTools } from "./tools.ts";

/** Without something silent a run looks twice, so that what falls silent is known before the next one. */
const LEAST_PASSES = 2;
/** What a pass takes at the most when all goes well: a later one isn't begun. */
const PASS_MS = 3_000;
/** A timer may be a moment early. */
const TIMER_MS = 20;

/** What a run knows, from one pass to the next. */
interface Run {
  readonly observations: Observations;
  /** Of the ConfigMap. */
  readonly resourceVersion: string | undefined;
  /** Listed once: new ones are the next run's. */
  readonly nodes: readonly ClusterNode[];
}

/** Never throws for what the cluster may answer. */
export async function fenceNodes(tools: FenceTools): Promise<void> {
  const { clock, endsAt, timeBudget } = tools;
  let run: Run | undefined;
  for (let passes = 1; ; passes++) {
    const startedAt = clock.now();
    const passed = await tryPass(run, tools);
    if (passed.kind === "over") return;
    const isFirst = run === undefined;
    run = passed.run;
    if (passed.kind === "observed") {
      if (isFirst) await tryShowing(passed, tools);
      if (passes >= LEAST_PASSES && worthKeeping(passed.run.observations).size === 0) return;
    }
    // Counted from the look itself: the reading before it takes its time too, and two looks that are closer are one.
    const lookedAt = passed.kind === "observed" ? passed.pass.askedAt : startedAt;
    const now = clock.now().getTime();
    const next = Math.max(lookedAt.getTime() + OBSERVATION_SECONDS * 1_000 + TIMER_MS, now);
    if (timeBudget.aborted || next + PASS_MS > endsAt.getTime()) return;
    await clock.sleep(next - now, timeBudget);
  }
}

type Passed =
  | { readonly kind: "observed"; readonly run: Run; readonly pass: Awaited<ReturnType<typeof takePass>> }
  | { readonly kind: "failed"; readonly run: Run | undefined }
  | { readonly kind: "over" };

async function tryPass(before: Run | undefined, tools: FenceTools): Promise<Passed> {
  let run = before;
  try {
    run ??= await begin(tools);
    if (run === undefined) return { kind: "over" };
    const pass = await takePass(run.nodes, tools);
    const secondsOf = suspectAfter(run.nodes, tools);
    const observations = observe(run.observations, pass, secondsOf);
    const resourceVersion = await write(observations, run, tools);
    if (resourceVersion === undefined) return { kind: "over" };
    run = { ...run, observations, resourceVersion };
    await handlePass({ observations, observedAt: observations.observedAt ?? pass.askedAt }, run.nodes, tools);
    return { kind: "observed", run, pass };
  } catch (error) {
    if (!isClusterError(error) && !tools.timeBudget.aborted) throw error;
    return failed(run, error, tools);
  }
}

/** Undefined where the observations are of a version that we don't know. */
async function begin(tools: FenceTools): Promise<Run | undefined> {
  const [reading, nodes] = await Promise.all([readObservations(tools.cluster), tools.cluster.listNodes()]);
  if (reading.kind === "unknown") {
    tools.note({ kind: "pass-failed", because: reading.because });
    return undefined;
  }
  const { failedAt } = tools.memory;
  const { observations, resourceVersion } = reading;
  const isKnown = failedAt === undefined || (observations.failedAt !== undefined && observations.failedAt >= failedAt);
  return { observations: isKnown ? observations : rememberFailure(observations, failedAt), resourceVersion, nodes };
}

async function write(observations: Observations, run: Run, tools: FenceTools): Promise<string | undefined> {
  const { resourceVersion } = run;
  const written = await writeObservations({ observations, holder: tools.holder, resourceVersion }, tools.cluster);
  if (written === undefined) tools.note({ kind: "run-ended", because: "another run has written the observations" });
  return written;
}

/** Written down at once if that is possible, else with the next pass; and this process remembers it for the next run. */
async function failed(run: Run | undefined, error: unknown, tools: FenceTools): Promise<Passed> {
  const because = error instanceof Error ? error.message : "unknown";
  if (tools.timeBudget.aborted) {
    // Says nothing of the cluster: were it away, the requests before this one would have failed by their own limits.
    tools.note({ kind: "run-ended", because: `its time was over in the middle of a pass: ${because}` });
    return { kind: "over" };
  }
  const at = tools.clock.now();
  tools.memory.failedAt = at;
  tools.note({ kind: "pass-failed", because });
  if (run === undefined) return { kind: "failed", run };
  const observations = rememberFailure(run.observations, at);
  try {
    const resourceVersion = await write(observations, run, tools);
    return resourceVersion === undefined
      ? { kind: "over" }
      : { kind: "failed", run: { ...run, observations, resourceVersion } };
  } catch (cause) {
    if (!isClusterError(cause)) throw cause;
    return { kind: "failed", run: { ...run, observations } };
  }
}

function suspectAfter(nodes: readonly ClusterNode[], { policy }: FenceTools): (nodeName: string) => number {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  return (nodeName) => policyFor(policy, byName.get(nodeName) ?? { labels: {} }).fencing.suspectAfterSeconds;
}

/** For people only: it must not keep a run from looking. */
async function tryShowing({ run, pass }: Extract<Passed, { kind: "observed" }>, tools: FenceTools): Promise<void> {
  try {
    await showArmed(run.nodes, pass, tools);
  } catch (error) {
    if (!isClusterError(error)) throw error;
    tools.note({ kind: "patch-failed", nodeName: "all", because: error.message });
  }
}
