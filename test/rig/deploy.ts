/** Deploys a synthesized CDK app into the emulator with the unmodified CDK: bootstrap, then deploy, as an operator would. */
import { mkdtempDisposable, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import type { Emulator } from "./emulator.ts";
import { run } from "./run.ts";

export interface Deployment {
  /** Folder with manifest.json. */
  readonly cdkOut: string;
  /** Told what the CDK reports, line by line. */
  readonly onProgress?: (line: string) => void;
}

/** By stack name, then by output name. */
export type StackOutputs = Readonly<Record<string, Readonly<Record<string, string>>>>;

const CDK = join(import.meta.dirname, "../../node_modules/aws-cdk/bin/cdk");
const outputsSchema = z.record(z.string(), z.record(z.string(), z.string()));
/** Each takes some ten seconds; three minutes mean that it hangs. */
const CDK_MILLISECONDS = 180_000;

type Target = Pick<Emulator, "account" | "region" | "env">;

/** Once per start of the emulator: the bucket and the roles that deployments use. */
export async function bootstrap(target: Target, onProgress?: Deployment["onProgress"]): Promise<void> {
  await cdk(target, ["bootstrap", `aws://${target.account}/${target.region}`], onProgress);
}

/** Deploys all stacks and gives their outputs. May be run again: the second time is an update. */
export async function deploy(target: Target, { cdkOut, onProgress }: Deployment): Promise<StackOutputs> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "nodekeeper-deploy-"));
  const outputsFile = join(folder.path, "outputs.json");
  const args = ["deploy", "--all", "--app", cdkOut, "--require-approval", "never", "--outputs-file", outputsFile];
  await cdk(target, args, onProgress);
  return outputsSchema.parse(JSON.parse(await readFile(outputsFile, "utf8")));
}

async function cdk(target: Target, args: readonly string[], onProgress: Deployment["onProgress"]): Promise<void> {
  // Its own folder, or it would read the project's cdk.json and synthesize once more.
  await using folder = await mkdtempDisposable(join(tmpdir(), "nodekeeper-cdk-"));
  await run(process.execPath, [CDK, ...args, "--no-color", "--no-notices", "--progress", "events"], {
    cwd: folder.path,
    timeoutMilliseconds: CDK_MILLISECONDS,
    env: {
      ...target.env,
      // It calls nobody but the emulator, and keeps its files to itself.
      CDK_DISABLE_CLI_TELEMETRY: "true",
      CDK_DISABLE_VERSION_CHECK: "true",
      CDK_HOME: folder.path,
    },
    ...(onProgress === undefined ? {} : { onProgress }),
  });
}
