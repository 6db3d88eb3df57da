/**
 * Posts what the spool holds when the API answers. Nobody waits for it. An Event that the API will never take is dropped
 * and said; one that waits for a right or for an answer stays, and doesn't hold up the others longer than needed.
 */
import type { ApiAnswer, ApiServer } from "../../api-server.ts";
import { reasonOf } from "../../log.ts";
import type { PostableEvent, Spool } from "./spool.ts";

const POST_MS = 5_000;
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 300_000;
const TERMINATING = '"NamespaceTerminating"';

export type Posted =
  | { readonly kind: "posted"; readonly event: string }
  | { readonly kind: "dropped"; readonly event: string; readonly because: string }
  /** Kept: tried again later. */
  | { readonly kind: "delayed"; readonly because: string };

export interface PostingOptions {
  readonly api: ApiServer;
  readonly spool: Spool;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly onPosted: (posted: Posted) => void;
}

export class EventPosting {
  readonly #options: PostingOptions;
  #postAtMs = 0;
  #retryMs = FIRST_RETRY_MS;
  #waiting = 0;

  constructor(options: PostingOptions) {
    this.#options = options;
  }

  /** Events in the spool, as of the last turn. */
  get waiting(): number {
    return this.#waiting;
  }

  /** To be called about every second, never twice at a time. Posts if it is time, and never rejects. */
  async turn(): Promise<void> {
    const { now, onPosted } = this.#options;
    if (now() < this.#postAtMs) return;
    const because = await this.#postWaiting().catch((error: unknown) => `reading the spool: ${reasonOf(error)}`);
    if (because === undefined) {
      this.#retryMs = FIRST_RETRY_MS;
      return;
    }
    this.#postAtMs = now() + this.#retryMs;
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
    onPosted({ kind: "delayed", because });
  }

  /** One after the other, as many as the spool may hold. Why some are left to be tried again, or undefined. */
  async #postWaiting(): Promise<string | undefined> {
    const { spool, onPosted } = this.#options;
    const names = await spool.names();
    this.#waiting = names.length;
    let delayed: string | undefined;
    for (const name of names) {
      const fate = await this.#tryOne(name);
      if (fate.kind === "delayed") {
        if (fate.all) return fate.because;
        delayed = fate.because;
        continue;
      }
      await spool.remove(name);
      this.#waiting -= 1;
      onPosted({ ...fate, event: name });
    }
    return delayed;
  }

  /** A file that can't be read, were it for once, must not hold up the others. */
  async #tryOne(name: string): Promise<Fate> {
    const { api, spool } = this.#options;
    let event: PostableEvent | undefined;
    try {
      ({ event } = await spool.read(name));
    } catch (error) {
      return { kind: "delayed", all: false, because: `reading ${name}: ${reasonOf(error)}` };
    }
    return event ? fateOf(await post(api, event)) : NOT_AN_EVENT;
  }
}

type Fate =
  | { readonly kind: "posted" }
  | { readonly kind: "dropped"; readonly because: string }
  /** `all`: nobody answers, so the others needn't be tried now. */
  | { readonly kind: "delayed"; readonly all: boolean; readonly because: string };

const NOT_AN_EVENT: Fate = { kind: "dropped", because: "the file holds no Event" };

function post(api: ApiServer, event: PostableEvent): Promise<ApiAnswer> {
  const path = `/api/v1/namespaces/${encodeURIComponent(event.metadata.namespace)}/events`;
  return api.call({ method: "POST", path, body: event, timeoutMs: POST_MS });
}

function fateOf(answer: ApiAnswer): Fate {
  if (answer.kind === "unanswered") return { kind: "delayed", all: true, because: answer.because };
  const { status, body } = answer;
  const because = `the API answered ${status} to an Event`;
  // 409: it was there already, from before a restart or a lost answer.
  if (status === 201 || status === 409) return { kind: "posted" };
  if (status === 401 || status === 429 || status >= 500) return { kind: "delayed", all: true, because };
  // An operator may still grant what is missing; the spool is bounded.
  if (status === 403 && !body.includes(TERMINATING)) return { kind: "delayed", all: false, because };
  return { kind: "dropped", because };
}
