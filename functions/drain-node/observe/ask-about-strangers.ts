/** Instances that no Node has: EC2 is asked once per batch whose they are. */
import { done } from "../../../shared/domain/outcome.ts";
import type { Signal } from "../../../shared/domain/signal.ts";
import { InstancesUnavailable } from "../../../shared/ports/instances.ts";
import { decideStranger, type StrangerAnswer } from "../decide/target.ts";
import type { Verdict } from "../decide/verdict.ts";
import type { DrainTools } from "../tools.ts";

/** A verdict for each signal, by instance id. */
export async function askAboutStrangers(
  signals: readonly Signal[],
  { clock, clusterName, instances, memory, policy }: DrainTools,
): Promise<ReadonlyMap<string, Verdict>> {
  const isKnown = (signal: Signal) => memory.isForeign(signal.instanceId, clock.now());
  const answerFor = await ask(
    signals.filter((signal) => !isKnown(signal)).map((signal) => signal.instanceId),
    instances,
  );

  const requireTag = policy.requireTag ?? { name: `kubernetes.io/cluster/${clusterName}` };
  const verdictFor = (signal: Signal): Verdict => {
    const now = clock.now();
    if (isKnown(signal)) return { decision: "foreign", outcome: done("foreign, as EC2 said minutes ago") };
    const verdict = decideStranger(signal, { answer: answerFor(signal.instanceId), requireTag }, now);
    if (verdict.decision === "foreign") memory.rememberForeign(signal.instanceId, now);
    return verdict;
  };
  return new Map(signals.map((signal) => [signal.instanceId, verdictFor(signal)]));
}

async function ask(
  ids: readonly string[],
  instances: DrainTools["instances"],
): Promise<(instanceId: string) => StrangerAnswer> {
  if (ids.length === 0) return () => ({ kind: "not-listed" });
  try {
    const listed = new Map((await instances.listInstances(ids)).map((one) => [one.id, one]));
    return (id) => {
      const instance = listed.get(id);
      return instance ? { kind: "listed", ...instance } : { kind: "not-listed" };
    };
  } catch (error) {
    if (!(error instanceof InstancesUnavailable)) throw error;
    return () => ({ kind: "unavailable", because: error.message });
  }
}
