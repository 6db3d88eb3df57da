/** For whoever wants to know more: the last lines of the function's log, and where everything is while it is kept running. */
import { once } from "node:events";
import type { LogLine } from "../support/backstage.ts";
import type { Installation } from "../support/installation.ts";
import type { DemoCluster } from "./demo-cluster.ts";
import type { Terminal } from "./terminal.ts";

const LOG_LINES = 12;

/** The same on every line, or of no use without an account. */
const LAMBDA_KEYS = /^(function_|xray_|sampling_rate|cold_start|service|cluster|timestamp|level|message)/;

export async function lastLogLines({ logLines }: Pick<Installation, "logLines">): Promise<readonly string[]> {
  // Metrics are lines too, without a message.
  const lines = (await logLines()).filter(({ message }) => message !== undefined).slice(-LOG_LINES);
  return ["", "The function's log ends with:", ...lines.map((line) => `  ${describeLine(line)}`)];
}

function describeLine(line: LogLine): string {
  const facts = Object.entries(line).filter(([key]) => !LAMBDA_KEYS.test(key));
  return `${line.timestamp} ${line.level} ${line.message} ${JSON.stringify(Object.fromEntries(facts))}`;
}

/** Resolves on Ctrl-C. */
export async function keepRunning(
  cluster: DemoCluster,
  installation: Installation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  terminal.writeLines(waysToLook(cluster, installation));
  const stayAlive = setInterval(() => {}, 60_000);
  try {
    if (!signal.aborted) await once(signal, "abort");
  } finally {
    clearInterval(stayAlive);
  }
}

function waysToLook(
  { commands }: DemoCluster,
  { emulator, queueUrl, deadLetterQueueUrl, relay }: Installation,
): string[] {
  const { endpoint, region, credentials } = emulator.clientConfig;
  return [
    "",
    "Everything is still running. The cluster:",
    ...commands.map((command) => `  ${command}`),
    "The relay's metrics:",
    `  curl ${relay.opsUrl}/metrics`,
    "The emulator, with keys that open nothing else:",
    `  export AWS_ENDPOINT_URL=${endpoint} AWS_REGION=${region}`,
    `  export AWS_ACCESS_KEY_ID=${credentials.accessKeyId} AWS_SECRET_ACCESS_KEY=${credentials.secretAccessKey}`,
    `  aws sqs get-queue-attributes --attribute-names All --queue-url ${queueUrl}`,
    `  aws sqs receive-message --queue-url ${deadLetterQueueUrl}`,
    "  aws logs describe-log-groups",
    "Ctrl-C ends it all.",
  ];
}
