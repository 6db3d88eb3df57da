/** Composition root of early-oom: its command line, and what happens to an error that nobody handled. */
import { createLog, reasonOf } from "../log.ts";
import { helpOn, SettingsFault } from "../settings.ts";
import { describedSettings, readSettings } from "./env.ts";
import { runEarlyOom } from "./run.ts";

const USAGE = `usage: node main.cjs              runs the agent
       node main.cjs --dry-run    runs it, but it only says what it would kill and why
       node main.cjs --help       shows this

Settings, all environment variables:
`;

const [command, ...rest] = process.argv.slice(2);
if (rest.length > 0) refuse(rest.join(" "));
else if (command === undefined) start(false);
else if (command === "--dry-run") start(true);
else if (command === "--help") process.stdout.write(`${USAGE}${helpOn(describedSettings())}\n`);
else refuse(command);

function start(dryRun: boolean): void {
  const fail = (message: string) => (error: unknown) => {
    const because = error instanceof SettingsFault ? error.message : reasonOf(error);
    const stack = error instanceof Error && !(error instanceof SettingsFault) ? { stack: error.stack } : {};
    createLog("early-oom", "error")("error", message, { because, ...stack });
    process.exit(1);
  };
  process.on("uncaughtException", fail("agent crashed"));
  try {
    const settings = readSettings(process.env, dryRun);
    runEarlyOom(settings, createLog("early-oom", settings.logLevel)).catch(fail("agent did not start"));
  } catch (error) {
    fail("agent did not start")(error);
  }
}

function refuse(what: string): void {
  process.stderr.write(`"${what}" isn't understood\n\n${USAGE.split("\n\n")[0]}\n`);
  process.exitCode = 2;
}
