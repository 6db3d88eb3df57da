/** What an operator can tell of fencing afterwards, node by node: states of the cluster, Events, decisions, metrics. */
import {
  FENCING_RECORD_ANNOTATION,
  type FencingRecord,
  readFencingRecord,
} from "../../shared/domain/fencing-record.ts";
import type { LogLine } from "./backstage.ts";
import type { Happening } from "./chronicle.ts";
import type { FencingStage } from "./fencing-stage.ts";
import { endedPods, nameOf, nodeStates } from "./fencing-traces.ts";
import { readMeasurements, valuesOf } from "./measurements.ts";
import { listOurEvents } from "./real-cluster.ts";

export interface FencingWitness {
  /** All that happened, in its order. */
  told(): readonly Happening[];
  /** @throws where there never was such a Node. */
  lastOf(nodeName: string): Happening;
  recordOn(nodeName: string): FencingRecord | undefined;
  /** When the pod was told to go, and when it went. */
  podEnds(podName: string): readonly Happening[];
  /** Lines of its log, one for each decision. */
  decided(nodeName: string): Promise<readonly LogLine[]>;
  /** Reasons of our Events on the Node. */
  eventsOn(nodeName: string): Promise<readonly string[]>;
  fencedLine(nodeName: string): Promise<LogLine | undefined>;
  /** Why a brake held, each time. */
  brakes(): Promise<readonly string[]>;
  /** Of one metric. */
  values(name: string): Promise<readonly number[]>;
}

export function witnessOf({ chronicle, cluster, log }: FencingStage): FencingWitness {
  const told = () => chronicle.happenings();
  const lines = async (message: string) => (await log.logLines()).filter((line) => line.message === message);
  const lastOf = (nodeName: string) => required(nodeStates(told(), nodeName).at(-1));
  return {
    told,
    lastOf,
    recordOn: (nodeName) => recordIn(lastOf(nodeName)),
    podEnds: (podName) => endedPods(told()).filter((one) => nameOf(one) === podName),
    decided: async (nodeName) => (await lines("node decided")).filter((line) => line.nodeName === nodeName),
    async eventsOn(nodeName) {
      const events = await listOurEvents(cluster);
      return events.filter(({ involvedObject }) => involvedObject.name === nodeName).map(({ reason }) => reason);
    },
    fencedLine: async (nodeName) => (await lines("node fenced")).find((line) => line.nodeName === nodeName),
    brakes: async () => (await lines("a brake holds")).map(({ heldBecause }) => String(heldBecause)),
    values: async (name) => valuesOf(name, readMeasurements(await log.logLines())),
  };
}

export function recordIn({ object }: Happening): FencingRecord | undefined {
  const reading = readFencingRecord(object.metadata.annotations[FENCING_RECORD_ANNOTATION]);
  return reading.kind === "record" ? reading.record : undefined;
}

export function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("it never happened");
  return value;
}
