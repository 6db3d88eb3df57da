/** An agent of ours in a guest: what it says on the console, and the shell around it. */
import type { Guest } from "../../rig/guest/start-guest.ts";
import { tailOf } from "../../rig/guest/until.ts";

export type LogLine = Readonly<Record<string, unknown>>;

/** What agents logged so far, oldest first. */
export function logOf({ console }: Guest): readonly LogLine[] {
  return console
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line) => JSON.parse(line));
}

/** @throws what the command printed, if it fails. */
export async function succeed(guest: Guest, command: string): Promise<void> {
  const { exitCode, output } = await guest.run(command);
  if (exitCode !== 0) throw new Error(`running "${command}" in the guest: ${output}`);
}

/** What the agent logged is on the console: a test that waits for it in vain says why. */
export async function explained<T>(guest: Guest, waiting: Promise<T>): Promise<T> {
  try {
    return await waiting;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${reason}; ${tailOf(guest.console)}`, { cause });
  }
}
