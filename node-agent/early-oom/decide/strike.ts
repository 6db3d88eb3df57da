/**
 * What comes next in a shortage: one strike at a time, its effect awaited, memory looked at again before each, and the
 * kernel's own killer where no container is left to take.
 */
import type { Move, Shortage, Strike, StrikeMode } from "../words.ts";
import { decideVictim, type VictimQuestion } from "./victim.ts";

/** Processes are gone within milliseconds of the signal, unless one hangs in the kernel. */
const GONE_WITHIN_MS = 2_000;
/** Memory comes back after the exit, and averages of pressure later still. */
const PAUSE_MS = 15_000;

export type Turn =
  | { readonly kind: "wait"; readonly untilMs: number; readonly because: string }
  | { readonly kind: "strike"; readonly because: string };

/**
 * Whether a strike may follow the ones so far: to be asked before containers are scanned. While it waits, the last
 * struck cgroup is to be looked at again and again: `gone` changes the answer.
 *
 * @param strikes oldest first.
 */
export function decideTurn(strikes: readonly Strike[], nowMs: number): Turn {
  const carriedOut = strikes.filter(({ failed }) => !failed);
  // Not only the last: one that goes late, after another was tried in its place, frees memory as well.
  const relief = carriedOut.findLast(({ gone }) => gone);
  if (relief && nowMs < relief.atMs + PAUSE_MS) {
    return { kind: "wait", untilMs: relief.atMs + PAUSE_MS, because: "a strike takes effect" };
  }
  const last = carriedOut.at(-1);
  if (last === undefined) return { kind: "strike", because: "nobody was struck yet" };
  if (last.gone) return { kind: "strike", because: "memory is short though the last strike had its time" };
  const untilMs = last.atMs + GONE_WITHIN_MS;
  if (nowMs < untilMs) return { kind: "wait", untilMs, because: "the struck container isn't gone yet" };
  return { kind: "strike", because: "the struck container doesn't go" };
}

export interface StrikeQuestion {
  readonly mode: StrikeMode;
  readonly nowMs: number;
  /** Decided on a sample taken after the scan: memory that recovered meanwhile saves the victim. */
  readonly again: Shortage;
  /** `rule` is overruled by what `again` says. */
  readonly question: Omit<VictimQuestion, "rule">;
}

export function decideStrike({ mode, nowMs, again, question }: StrikeQuestion): Move {
  if (again.kind === "fine") return { kind: "nothing", because: again.because };
  const turn = decideTurn(question.strikes, nowMs);
  if (turn.kind === "wait") return turn;
  if (mode === "kernel") return { kind: "sysrq", because: "the mode leaves the choice to the kernel" };
  const choice = decideVictim({ ...question, rule: again.rule });
  if (choice.kind === "nobody") return { kind: "sysrq", because: choice.because };
  return { kind: "kill", victim: choice.victim };
}

/**
 * The strikes that still matter: younger than the pause, or at a container that doesn't go. One that couldn't be carried
 * out is tried again after the pause: what failed once needn't fail for as long as the container lives.
 */
export function keepStrikes(strikes: readonly Strike[], nowMs: number): readonly Strike[] {
  return strikes.filter(({ atMs, gone, failed }) => (!gone && !failed) || nowMs < atMs + PAUSE_MS);
}
