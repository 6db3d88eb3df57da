/** All that the demo found out, and whether it is as it should be. Pure. */
import type { NodeProgress } from "./progress.ts";

/** A pod that was deleted although its budget refused. */
export interface Escalation {
  readonly nodeName: string;
  readonly pod: string;
  readonly budget: string;
  /** How long the budget had refused by then. */
  readonly refusedForSeconds: number | undefined;
  readonly graceSeconds: number;
}

export interface Report {
  readonly nodes: readonly NodeProgress[];
  readonly escalations: readonly Escalation[];
  readonly otherNodes: number;
  /** What is different on nodes without a notice, in words. */
  readonly touched: readonly string[];
  /** Reasons of the dead letters. */
  readonly deadLetters: readonly string[];
  /** Messages still in the queue. */
  readonly messagesLeft: number;
  readonly setupSeconds: number;
  readonly dramaSeconds: number;
}

/** Whatever an operator would not accept; empty if all went well. */
export function faultsOf(report: Report): readonly string[] {
  const { nodes, touched, deadLetters, messagesLeft } = report;
  const faults = nodes.flatMap(({ name, state, podsLeft, heldBy, secondsLeft }) => [
    ...(state === "drained" ? [] : [`${name} is ${state}, not drained`]),
    ...(podsLeft === 0 ? [] : [[`${name} still has ${count(podsLeft, "pod")}`, ...heldBy].join(": ")]),
    ...(secondsLeft !== undefined && secondsLeft < 0 ? [`${name} was drained after its deadline`] : []),
  ]);
  return [
    ...faults,
    ...touched,
    ...deadLetters.map((reason) => `dead letter: ${reason}`),
    ...(messagesLeft === 0 ? [] : [`${count(messagesLeft, "message")} left in the queue`]),
  ];
}

export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
