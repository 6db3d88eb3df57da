/** Runs commands inside a guest while it goes on: `init.sh` reads them from the second serial line and answers there. */
import { connectLines } from "./line-socket.ts";
import type { Until } from "./until.ts";

export interface CommandResult {
  /** Standard output and standard error as they came. */
  readonly output: string;
  /** 128 + n for a command that signal n ended. */
  readonly exitCode: number;
}

export interface CommandLine extends Disposable {
  /** Whether the guest listens. */
  isReady(): boolean;
  run(command: string, withinMilliseconds: number): Promise<CommandResult>;
}

export async function connectCommandLine(path: string, until: Until): Promise<CommandLine> {
  const results = new Map<string, CommandResult>();
  let ready = false;
  let sent = 0;
  const lines = await connectLines(path, (line) => {
    const [number = "", code = "", output = ""] = line.split(" ");
    if (number === "ready") ready = true;
    else results.set(number, { exitCode: Number(code), output: Buffer.from(output, "base64").toString() });
  });

  async function run(command: string, withinMilliseconds: number): Promise<CommandResult> {
    sent += 1;
    const number = String(sent);
    lines.send(`${number} ${Buffer.from(command).toString("base64")}`);
    await until(`the guest ran "${command}"`, () => results.has(number), withinMilliseconds);
    const result = results.get(number);
    if (result === undefined) throw new Error(`running "${command}" in the guest: no result`);
    return result;
  }
  return { isReady: () => ready, run, [Symbol.dispose]: () => lines[Symbol.dispose]() };
}
