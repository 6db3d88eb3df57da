/** What the set-up says: one line per thing, on standard error, with the seconds that a long one has taken so far. */

/** A fault that its message explains in full: no stack is shown. */
export class SetupFault extends Error {}

export function say(text) {
  process.stderr.write(`${REWRITE}setup: ${text}\n`);
}

/** On a terminal the line of what is under way stays open: whatever is said next takes its place. */
const REWRITE = process.stderr.isTTY ? "\r\u001b[K" : "";

/** On a terminal the line is rewritten each second; in a log a line every half minute shows that it still goes on. */
const TICK_MILLISECONDS = process.stderr.isTTY ? 1000 : 30_000;

/** When each thing that is under way began, by its label: several may be at a time, and share a line. */
const underWay = new Map();
let ticks;

/** Runs `work` under a line such as "building kube-apiserver … 84 s". */
export async function withProgress(label, work) {
  underWay.set(label, Date.now());
  ticks ??= setInterval(show, TICK_MILLISECONDS);
  show();
  try {
    return await work();
  } finally {
    const last = progressOf(label);
    underWay.delete(label);
    if (underWay.size === 0) ticks = clearInterval(ticks);
    say(last);
  }
}

function progressOf(label) {
  return `${label} … ${Math.round((Date.now() - underWay.get(label)) / 1000)} s`;
}

function show() {
  const line = [...underWay.keys()].map(progressOf).join("; ");
  // What wraps can't be rewritten.
  if (process.stderr.isTTY) process.stderr.write(`${REWRITE}setup: ${line}`.slice(0, process.stderr.columns || 80));
  else say(line);
}
