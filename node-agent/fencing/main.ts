/** Composition root of the fencing-agent: its command line, and what happens to an error that nobody handled. */
import { createLog, reasonOf } from "../log.ts";
import { helpOn, SettingsFault, SettingsReader } from "../settings.ts";
import { askOpsPort, describedSettings, readSettings } from "./env.ts";
import { runAgent } from "./run.ts";
import { askStatus } from "./status.ts";

const USAGE = `usage: node main.cjs            runs the agent
       node main.cjs status     asks the agent on this node; ends with 0 if all is as wanted, 1 if something is wrong,
                                3 if no agent answers
       node main.cjs --help     shows this

Settings, all environment variables:
`;

const [command, ...rest] = process.argv.slice(2);
if (rest.length > 0) refuse(rest.join(" "));
else if (command === undefined) start();
else if (command === "status") void status();
else if (command === "--help") process.stdout.write(`${USAGE}${helpOn(describedSettings())}\n`);
else refuse(command);

function start(): void {
  const fail = (message: string) => (error: unknown) => {
    const because = error instanceof SettingsFault ? error.message : reasonOf(error);
    const stack = error instanceof Error && !(error instanceof SettingsFault) ? { stack: error.stack } : {};
    createLog("fencing-agent", "error")("error", message, { because, ...stack });
    // Without a goodbye: the close pings the dog once, and the next process finds it running.
    process.exit(1);
  };
  process.on("uncaughtException", fail("agent crashed"));
  try {
    const settings = readSettings(process.env);
    runAgent(settings, createLog("fencing-agent", settings.logLevel)).catch(fail("agent crashed"));
  } catch (error) {
    fail("agent did not start")(error);
  }
}

async function status(): Promise<void> {
  const reader = new SettingsReader(process.env);
  const port = askOpsPort(reader);
  try {
    reader.finish();
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exitCode = 2;
    return;
  }
  const { text, exitCode } = await askStatus(port);
  process.stdout.write(text);
  process.exitCode = exitCode;
}

function refuse(what: string): void {
  process.stderr.write(`"${what}" isn't understood\n\n${USAGE.split("\n\n")[0]}\n`);
  process.exitCode = 2;
}
