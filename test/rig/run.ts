/** One command run to its end, for tools such as kubectl and cdk: what it printed, or an error that says what it said. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

export interface RunOptions {
  /** The whole environment; nothing is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** Default 60,000; the command is killed then. */
  readonly timeoutMilliseconds?: number;
  /** Told each line of standard error as it comes: cdk reports its progress there. */
  readonly onProgress?: (line: string) => void;
}

/** Standard output of the command. @throws with its standard error when it fails, can't be started, or takes too long. */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { env = {}, cwd, input = "", timeoutMilliseconds = 60_000, onProgress } = options;
  const child = spawn(command, args, {
    env,
    stdio: "pipe",
    timeout: timeoutMilliseconds,
    killSignal: "SIGKILL",
    ...(cwd === undefined ? {} : { cwd }),
  });
  const ended = new Promise<string | undefined>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code === 0 ? undefined : `exit ${code ?? signal}`));
  });
  if (onProgress !== undefined) createInterface({ input: child.stderr }).on("line", onProgress);
  // A command that ends without reading its input breaks the pipe; its exit code tells the story.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [fault, output, complaint] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (fault !== undefined) throw new Error(`running ${command} ${args.join(" ")}: ${fault}\n${complaint}${output}`);
  return output;
}
