/** The only source of time for a story, so that a test can hold it. */

export interface Clock {
  now(): Date;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
