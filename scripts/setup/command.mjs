/** Runs other people's programs: silent when all is well, with everything they printed when not. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { SetupFault } from "./output.mjs";

export const REPOSITORY = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");

/**
 * The search path without node_modules/.bin: npm puts it first, and `npm ci` must not run on the Node that it is about
 * to replace.
 */
export const SYSTEM_PATH = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((folder) => !folder.replace(/\/$/, "").endsWith("node_modules/.bin"))
  .join(delimiter);

/** Absolute path of a command; undefined if it isn't installed. */
export function locate(command) {
  return SYSTEM_PATH.split(delimiter)
    .map((folder) => join(folder, command))
    .find((path) => existsSync(path));
}

export function isInstalled(command) {
  return locate(command) !== undefined;
}

/** What a program prints, trimmed; undefined if it isn't there, fails, or takes more than 20 s. */
export function ask(command, args) {
  const env = { ...process.env, PATH: SYSTEM_PATH };
  const answer = spawnSync(command, args, { env, encoding: "utf8", timeout: 20_000 });
  return answer.status === 0 ? answer.stdout.trim() : undefined;
}

/** @throws SetupFault with all that the program printed. */
export async function execute(command, args, { cwd = REPOSITORY, env = {} } = {}) {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, PATH: SYSTEM_PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  const collect = (chunk) => {
    printed += chunk;
  };
  child.stdout.setEncoding("utf8").on("data", collect);
  child.stderr.setEncoding("utf8").on("data", collect);
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  if (code !== 0) throw new SetupFault(`running ${command} ${args.join(" ")} failed (${code})\n${printed}`);
}

/** Like Promise.all, but nothing is still at work when a fault is told. */
export async function allOf(works) {
  const ended = await Promise.allSettled(works);
  const failed = ended.find(({ status }) => status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return ended.map(({ value }) => value);
}
