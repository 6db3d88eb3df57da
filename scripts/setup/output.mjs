/** What the set-up says: one line per thing, on standard error, with the seconds that a long one has taken so far. */

/** A fault that its message explains in full: no stack is shown. */
export class SetupFault extends Error {}

export function say(text) {
  process.stderr.write(`setup: ${text}\n`);
}

/** On a terminal the line is rewritten each second; in a log a line every half minute shows that it still goes on. */
const TICK_MILLISECONDS = process.stderr.isTTY ? 1000 : 30_000;

/** Runs `work` under a line such as "building kube-apiserver … 84 s". */
export async function withProgress(label, work) {
  const start = Date.now();
  const line = () => `setup: ${label} … ${Math.round((Date.now() - start) / 1000)} s`;
  const show = () => process.stderr.write(process.stderr.isTTY ? `\r${line()}` : `${line()}\n`);
  show();
  const timer = setInterval(show, TICK_MILLISECONDS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    show();
    if (process.stderr.isTTY) process.stderr.write("\n");
  }
}
