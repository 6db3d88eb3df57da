/** How many processes the kernel's own killer took on the whole node, those outside of pods included. */
import { createKernelText, numberAfter, readIfThere } from "./read-numbers.ts";

const OOM_KILL = Buffer.from("\noom_kill ");

/**
 * Since boot; undefined where the kernel doesn't count them (before 4.13).
 *
 * @param procRoot the host's /proc.
 */
export function readNodeOomKills(procRoot: string): number | undefined {
  const text = createKernelText();
  return readIfThere(`${procRoot}/vmstat`, text) ? numberAfter(text, OOM_KILL) : undefined;
}
