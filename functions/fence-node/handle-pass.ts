/** What follows from one pass: which nodes are to be dealt with, and each of them dealt with by itself. */
import pLimit from "p-limit";
import { FENCING_RECORD_ANNOTATION } from "../../shared/domain/fencing-record.ts";
import type { ClusterNode } from "../../shared/domain/node.ts";
import { isIgnored, type NodePolicy, policyFor } from "../../shared/domain/policy.ts";
import { decideBrake, decideGroups } from "./decide/brakes.ts";
import type { NodeSilence, Observations } from "./decide/observations.ts";
import { decideSuspicion, type Suspicion } from "./decide/suspicion.ts";
import { type Case, takeSteps } from "./fence-one.ts";
import { askAboutInstances } from "./observe/ask-about-instances.ts";
import type { FenceTools } from "./tools.ts";

/** Nodes dealt with at once. */
const WIDTH = 4;
/** Events about silent kubelets in one pass: where there are more of them, the metric says so. */
const MOST_REPORTED = 20;

interface Watched {
  readonly node: ClusterNode;
  readonly silence: NodeSilence | undefined;
  readonly policy: NodePolicy;
  readonly suspicion: Suspicion["kind"];
  readonly isIgnored: boolean;
}

/** @param nodes as listed, from the API server's cache: a hint at whom to look. */
export async function handlePass(
  { observations, observedAt }: { readonly observations: Observations; readonly observedAt: Date },
  nodes: readonly ClusterNode[],
  tools: FenceTools,
): Promise<void> {
  const { policy, note, cluster } = tools;
  const watched = watch(nodes, observations, observedAt, tools);
  const suspected = watched.filter((one) => mayBeFenced(one) && ["suspected", "confirmed"].includes(one.suspicion));
  const reachable = watched.filter((one) => mayBeFenced(one) && one.suspicion === "reachable");
  // What other runs, and the last pass, have marked since counts for the brakes.
  const current = suspected.length > 0 ? await cluster.listNodes() : nodes;
  const brake = decideBrake(observations, current, policy.fencing);
  const confirmed = suspected.filter((one) => one.suspicion === "confirmed" && !one.policy.dryRun);
  const candidates = confirmed.flatMap(({ node, silence }) => (silence ? [[node.name, silence] as const] : []));
  const refused = decideGroups(brake.because === undefined ? candidates : [], current, policy.fencing);
  const held = suspected.length > 0 ? (brake.because ?? [...refused.values()][0]) : undefined;
  note({
    kind: "observed",
    nodes: observations.nodes.size,
    silentShare: brake.silentShare,
    suspected: suspected.length,
    reachable: reachable.length,
    heldBecause: held,
  });

  const isMarked = ({ node }: Watched) => node.annotations[FENCING_RECORD_ANNOTATION] !== undefined;
  // While the brake holds, only what is under fencing already may come back to life: the others are too many to tell of.
  const told = [...(brake.because === undefined ? suspected : []), ...reachable.slice(0, MOST_REPORTED)];
  const dealtWith = watched.filter((one) => told.includes(one) || isMarked(one));
  const asked = brake.because === undefined ? dealtWith.filter((one) => one.suspicion === "confirmed") : [];
  const instanceOf = await askAboutInstances(
    asked.map(({ node }) => node),
    tools,
  );
  const limit = pLimit(WIDTH);
  const deal = (one: Watched) => {
    const given: Case = { ...one, observedAt, instanceOf, brake: brake.because ?? refused.get(one.node.name) };
    return limit(() => takeSteps(given, tools));
  };
  await Promise.all(dealtWith.map(deal));
}

function watch(
  nodes: readonly ClusterNode[],
  observations: Observations,
  observedAt: Date,
  { policy }: FenceTools,
): readonly Watched[] {
  return nodes.map((node) => {
    const silence = observations.nodes.get(node.name);
    const own = policyFor(policy, node);
    const suspicion = decideSuspicion(silence, observedAt, own.fencing).kind;
    return { node, silence, policy: own, suspicion, isIgnored: isIgnored(policy, node) };
  });
}

function mayBeFenced({ policy, isIgnored: isOthers }: Watched): boolean {
  return policy.fencing.enabled && !isOthers;
}
