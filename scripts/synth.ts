/** `npm run synth`: builds the bundles, writes the cloud assembly to cdk.out, and says what came out. Nothing leaves the machine. */
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { CloudFormationStackArtifact } from "aws-cdk-lib/cx-api";
import * as z from "zod";
import { DeployConfigFaults } from "../infra/deploy-config-faults.ts";
import { synthesize } from "../infra/synthesize.ts";
import { buildBundles, describeBundle } from "./build.ts";

const ROOT = resolve(import.meta.dirname, "..");

const HELP = `usage: npm run synth -- [--config <file>] [--out <folder>]

Builds the programs and writes the CloudFormation templates. Needs no AWS account, and no network once the packages are installed.

  --config <file>   configuration of the installation, JSON (default: key "nodekeeper" in cdk.json)
  --out <folder>    where the cloud assembly goes (default: cdk.out)

Then deploy what was written: npx cdk deploy --app cdk.out
All keys of the configuration: docs/configuration.md`;

const templateSchema = z.object({ Resources: z.record(z.string(), z.object({ Type: z.string() })) });

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { config: { type: "string" }, out: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) return console.log(HELP);

  for (const bundle of await buildBundles()) console.log(describeBundle(bundle));
  const outdir = resolve(values.out ?? resolve(ROOT, "cdk.out"));
  const assembly = synthesize({ outdir, context: contextOf(values.config) });
  for (const stack of assembly.stacks) describeStack(stack);
}

/** The context of cdk.json, with the configuration from a file instead where one is given. */
function contextOf(configFile: string | undefined): Record<string, unknown> {
  const cdkJson: unknown = JSON.parse(readFileSync(resolve(ROOT, "cdk.json"), "utf8"));
  const { context } = z.object({ context: z.record(z.string(), z.unknown()) }).parse(cdkJson);
  return { ...context, ...(configFile !== undefined && { "nodekeeper-config": resolve(configFile) }) };
}

function describeStack(stack: CloudFormationStackArtifact): void {
  const resources = Object.values(templateSchema.parse(stack.template).Resources);
  const counts = Map.groupBy(resources, (resource) => resource.Type);
  console.log(`\n${relative(process.cwd(), stack.templateFullPath)}: ${resources.length} resources`);
  for (const [type, all] of counts) console.log(`  ${String(all.length).padStart(3)}  ${type}`);
  for (const { level, entry } of stack.messages) {
    if (level !== "info")
      console.log(`\n${level}: ${typeof entry.data === "string" ? entry.data : JSON.stringify(entry.data)}`);
  }
}

try {
  await main();
} catch (error) {
  // A fault of the configuration or of an option explains itself; a stack trace would bury it.
  if (error instanceof DeployConfigFaults) {
    console.error(error.message);
    process.exitCode = 1;
  } else if (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")) {
    console.error(`${error.message}\nAll options: npm run synth -- --help`);
    process.exitCode = 2;
  } else throw error;
}
