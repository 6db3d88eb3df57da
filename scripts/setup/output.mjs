/** What the set-up says: one line per thing, on standard error, with the seconds that a long one has taken so far. */

/** A fault that its message explains in full: no stack is shown. */
export class SetupFault extends Error {}

export function say(text) {
  write(`setup: ${text}\n`);
}

/** On a terminal the line is rewritten each second; in a log a line every half minute shows that it still goes on. */
const TICK_MILLISECONDS = process.stderr.isTTY ? 1000 : 30_000;

/** When each thing that is under way began, by its label: several may be at a time. */
const underWay = new Map();

/** Runs `work` under a line such as "building kube-apiserver … 84 s". */
export async function withProgress(label, work) {
  underWay.set(label, Date.now());
  show();
  const timer = setInterval(show, TICK_MILLISECONDS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    const last = progressOf(label);
    underWay.delete(label);
    say(last);
  }
}

function progressOf(label) {
  return `${label} … ${Math.round((Date.now() - underWay.get(label)) / 1000)} s`;
}

function show() {
  const line = `setup: ${[...underWay.keys()].map(progressOf).join("; ")}`;
  // The terminal's last line stays open: whatever is said next takes its place.
  process.stderr.write(process.stderr.isTTY ? `\r${line}\u001b[K` : `${line}\n`);
}

function write(text) {
  process.stderr.write(process.stderr.isTTY ? `\r${text.replace(/\n$/, "\u001b[K\n")}` : text);
}
