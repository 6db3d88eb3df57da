/**
 * When the API is asked about this node's pods, and what was last heard. The loop reads the answer and never waits for
 * it: what was heard before the API went away stays in use.
 */
import type { PodsAnswer } from "./observe/list-pods.ts";
import type { CgroupScan, FactsByPod } from "./words.ts";

/** A pod that nobody knows was started just now: soon enough for a leak, rarely enough for a node that starts 50. */
const UNKNOWN_AFTER_MS = 5_000;
const FIRST_RETRY_MS = 5_000;

export interface PodsOptions {
  readonly list: () => Promise<PodsAnswer>;
  readonly everyMs: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Each answer that isn't a list, with the reason; the caller says it once. */
  readonly onAnswer: (answer: PodsAnswer) => void;
}

export class Pods {
  readonly #options: PodsOptions;
  #facts: FactsByPod = new Map();
  #listedAtMs: number | undefined;
  #askAtMs = 0;
  #askedAtMs: number | undefined;
  #retryMs = FIRST_RETRY_MS;

  constructor(options: PodsOptions) {
    this.#options = options;
  }

  get facts(): FactsByPod {
    return this.#facts;
  }

  /** Milliseconds since the last list; undefined before the first. */
  get ageMs(): number | undefined {
    return this.#listedAtMs === undefined ? undefined : this.#options.now() - this.#listedAtMs;
  }

  /** Asks sooner where a container's pod isn't known. A static pod is told by its cgroup: it needs no asking. */
  saw({ containers }: CgroupScan): void {
    if (this.#askedAtMs === undefined || this.#retryMs > FIRST_RETRY_MS) return;
    const isUnknown = containers.some(({ podUid, isStatic }) => !isStatic && !this.#facts.has(podUid));
    if (isUnknown) this.#askAtMs = Math.min(this.#askAtMs, this.#askedAtMs + UNKNOWN_AFTER_MS);
  }

  /** To be called about every second. Asks if it is time, and never rejects. */
  async turn(): Promise<void> {
    const { list, everyMs, now, onAnswer } = this.#options;
    const startedAtMs = now();
    if (startedAtMs < this.#askAtMs) return;
    this.#askedAtMs = startedAtMs;
    // Set before the answer, so that a second turn meanwhile doesn't ask again.
    this.#askAtMs = startedAtMs + everyMs;
    const answer = await list();
    if (answer.kind === "listed") {
      this.#facts = answer.facts;
      this.#listedAtMs = now();
      this.#retryMs = FIRST_RETRY_MS;
    } else {
      this.#askAtMs = now() + Math.min(this.#retryMs, everyMs);
      this.#retryMs = Math.min(2 * this.#retryMs, everyMs);
    }
    onAnswer(answer);
  }
}
