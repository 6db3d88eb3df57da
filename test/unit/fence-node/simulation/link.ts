/**
 * What becomes of a request on its way to the API server and back: lost, late, doubled, refused, carried out although
 * nobody waits for it any more.
 */
import type { Chance } from "./chance.ts";
import type { Gate } from "./gate.ts";
import type { Timeline } from "./timeline.ts";

export interface LinkTroubles {
  /** Packets vanish, both ways or one. */
  requestsVanish: number;
  answersVanish: number;
  /** Connections are refused at once. */
  refuses: number;
  isSlow: number;
}

export interface ApiTroubles {
  /** Nobody answers. */
  isAway: number;
  /** It answers 503. */
  fails: number;
  /** Reads are served, writes are answered 503. */
  writesFail: number;
}

export const noLinkTroubles = (): LinkTroubles => ({ requestsVanish: 0, answersVanish: 0, refuses: 0, isSlow: 0 });

export type Outcome<T> =
  | { readonly kind: "answered"; readonly answer: T }
  | { readonly kind: "failed" }
  | { readonly kind: "unanswered"; readonly because: string };

export interface LinkParts {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly api: ApiTroubles;
  readonly troubles: LinkTroubles;
}

export interface Request<T> {
  readonly handle: () => T;
  readonly isWrite: boolean;
  readonly timeoutMs: number;
  /** Of who waits for the answer. */
  readonly gate: Gate;
  /** Once, unless who waits is gone. */
  readonly deliver: (outcome: Outcome<T>) => void;
}

export const REFUSED_CONNECTION = "connect ECONNREFUSED";
const LONGEST_HELD_MS = 40_000;

export class Link {
  readonly #parts: LinkParts;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  send<T>({ handle, isWrite, timeoutMs, gate, deliver }: Request<T>): void {
    const { timeline, chance, api, troubles } = this.#parts;
    const timesOutAtMs = timeline.nowMs + timeoutMs;
    let isOpen = true;
    const settle = (outcome: Outcome<T>) =>
      gate.run(() => {
        if (!isOpen) return;
        isOpen = false;
        deliver(outcome);
      });
    const timeOut = () => timeline.at(timesOutAtMs, () => settle({ kind: "unanswered", because: "timed out" }));

    const answer = (outcome: Outcome<T>) => {
      const ms = this.#latency();
      if (timeline.nowMs + ms > timesOutAtMs) timeOut();
      timeline.after(ms, () => {
        if (troubles.answersVanish > 0) timeOut();
        else settle(outcome);
      });
    };
    const arrive = () => {
      if (api.isAway > 0) return timeOut();
      if (api.fails > 0 || (isWrite && api.writesFail > 0)) return answer({ kind: "failed" });
      const first = handle();
      if (!chance.happens(0.01)) return answer({ kind: "answered", answer: first });
      // A proxy on the way, or a client that tries again by itself, has sent it twice.
      timeline.after(this.#latency(), () => {
        const second = handle();
        answer({ kind: "answered", answer: chance.happens(0.5) ? first : second });
      });
    };

    if (troubles.refuses > 0) {
      timeline.after(1, () => settle({ kind: "unanswered", because: REFUSED_CONNECTION }));
      return;
    }
    const ms = this.#latency();
    if (ms > timeoutMs) timeOut();
    timeline.after(ms, () => {
      if (troubles.requestsVanish === 0) return arrive();
      timeOut();
      // What is sent again and again underneath arrives when the way is free, though the client has given up.
      if (chance.happens(0.3))
        timeline.after(chance.between(0, LONGEST_HELD_MS), () => {
          if (troubles.requestsVanish === 0) arrive();
        });
    });
  }

  #latency(): number {
    const { chance, troubles } = this.#parts;
    if (troubles.isSlow > 0 && chance.happens(0.5)) return chance.between(200, 9_000);
    return chance.between(1, 30);
  }
}
