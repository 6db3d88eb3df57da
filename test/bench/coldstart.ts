/** What a cold start reads and keeps: the shipped bundle in a fresh process, beside an empty function in another. */
import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as z from "zod";
import type { Environment } from "../../functions/drain-node/env.ts";
import { buildBundles } from "../../scripts/build.ts";
import { BUNDLE_FILES } from "../../shared/domain/function-environment.ts";
import { policySchema } from "../../shared/domain/policy.ts";
import { createAuthority } from "../rig/pki.ts";

const run = promisify(execFile);
const measured = z.object({ importMs: z.number(), rssMb: z.number() });

/** Measured inside, so that the start of Node itself isn't counted. */
const PROBE = `const before = performance.now();
await import(process.argv[1]);
const importMs = performance.now() - before;
console.log(JSON.stringify({ importMs, rssMb: process.memoryUsage.rss() / 2 ** 20 }));
process.exit(0);`;

const ENVIRONMENT: Record<keyof Environment, string> = {
  FUNCTION: "drain-urgent",
  CLUSTER_NAME: "bench",
  ACCOUNT_ID: "123456789012",
  AWS_REGION: "eu-west-1",
  API_URL: "https://127.0.0.1:1",
  TOKEN_AUDIENCE: "bench",
  QUEUE_URL: "http://127.0.0.1:1/queue",
  DEAD_LETTER_QUEUE_URL: "http://127.0.0.1:1/dead",
};

export async function benchColdstart(runs: number): Promise<void> {
  const bundles = await buildBundles();
  const bundle = bundles.find(({ name }) => name === "drain-node");
  if (!bundle) throw new Error("measuring the cold start: there is no bundle of drain-node");
  await writeFile(join(bundle.directory, BUNDLE_FILES.policy), JSON.stringify(policySchema.parse({})));
  await writeFile(join(bundle.directory, BUNDLE_FILES.apiCa), (await createAuthority()).certPem);
  const folder = await mkdtemp(join(tmpdir(), "nodekeeper-bench-"));
  const empty = join(folder, "empty.mjs");
  await writeFile(empty, "export const handler = async () => ({});\n");

  const ours: z.infer<typeof measured>[] = [];
  const theirs: z.infer<typeof measured>[] = [];
  // In turn, so that a slow moment of the machine meets both.
  for (let n = 0; n < runs; n++) {
    theirs.push(await measure(empty));
    ours.push(await measure(bundle.entry));
  }
  const row = (what: string, pick: (one: z.infer<typeof measured>) => number, unit: string) => {
    const [a, b] = [median(theirs.map(pick)), median(ours.map(pick))];
    console.log(
      `${what.padEnd(20)}${a.toFixed(1).padStart(8)} ${unit}${b.toFixed(1).padStart(10)} ${unit}${(b - a).toFixed(1).padStart(10)} ${unit} more`,
    );
  };
  console.log(`medians of ${runs} runs      empty      drain-node`);
  row("import", (one) => one.importMs, "ms");
  row("resident memory", (one) => one.rssMb, "MB");
  console.log(
    `bundle: ${(bundle.startBytes / 1e6).toFixed(2)} MB read at start, ${(bundle.totalBytes / 1e6).toFixed(2)} MB in all`,
  );
}

async function measure(entry: string) {
  const env = { ...ENVIRONMENT, POWERTOOLS_DEV: "false", AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "x" };
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", PROBE, entry], { env });
  return measured.parse(JSON.parse(stdout));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
