/** Ctrl-C, and what a supervisor sends: the first time everything is ended in order, the second time at once. */

/** By convention 128 and the signal's number. */
export const INTERRUPTED_EXIT_CODE = 130;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface CtrlC extends Disposable {
  readonly signal: AbortSignal;
}

/** @param onFirst says that the end has begun. @param onSecond is called before the process exits. */
export function listenForCtrlC(onFirst: () => void, onSecond: () => void): CtrlC {
  const controller = new AbortController();
  const listener = () => {
    if (controller.signal.aborted) {
      onSecond();
      // Programs that were started end with us: each has a guard that waits for it.
      process.exit(INTERRUPTED_EXIT_CODE);
    }
    controller.abort(new Error("ended by Ctrl-C"));
    onFirst();
  };
  for (const name of SIGNALS) process.on(name, listener);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const name of SIGNALS) process.off(name, listener);
    },
  };
}
