/** A template as it is deployed, with references made readable, and a configuration to start from. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { CloudAssembly } from "aws-cdk-lib/cx-api";
import * as z from "zod";
import { synthesize } from "../../infra/synthesize.ts";

const ROOT = resolve(import.meta.dirname, "../..");
/** An absolute path, so that a configuration works wherever its file lies. */
export const EXAMPLE_CA = join(ROOT, "infra/example/api-ca.pem");

/** The smallest configuration: everything that has a default is left out. */
export const SMALLEST_CONFIG = {
  cluster: "blue",
  account: "111122223333",
  region: "eu-west-1",
  api: { via: "relay", url: "https://relay.example.com:8443", caFile: EXAMPLE_CA },
  network: {
    vpcId: "vpc-0123456789abcdef0",
    subnetIds: ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
    securityGroupIds: ["sg-0123456789abcdef0"],
    endpoints: "nat",
  },
} as const;

export interface Resource {
  readonly id: string;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface Synthesized {
  readonly directory: string;
  readonly assembly: CloudAssembly;
  readonly resources: readonly Resource[];
  readonly outputs: Readonly<Record<string, unknown>>;
  of(type: string): readonly Resource[];
}

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })),
});

/** Synthesizes into a temporary folder that goes with it. The bundles are stand-ins: what they do isn't the point. */
export function synthesizeConfig(
  config: unknown,
  options: { readonly bundle?: string } = {},
): Synthesized & Disposable {
  using onFailure = new DisposableStack();
  const directory = mkdtempSync(join(tmpdir(), "nodekeeper-infra-test-"));
  onFailure.defer(() => rmSync(directory, { recursive: true, force: true }));
  const bundleOf = (name: string) => options.bundle ?? standInBundle(directory, name);
  const bundles = { drainNode: bundleOf("drain-node"), fenceNode: bundleOf("fence-node") };
  const assembly = synthesize({ context: { nodekeeper: config }, outdir: join(directory, "cdk.out"), bundles });
  const template = templateSchema.parse(assembly.stacks[0]?.template);
  const resources = Object.entries(template.Resources).map(([id, { Type, Properties }]) => ({
    id,
    type: Type,
    properties: z.record(z.string(), z.unknown()).parse(readable(Properties)),
  }));
  const made = onFailure.move();
  return {
    directory,
    assembly,
    resources,
    outputs: Object.fromEntries(Object.entries(template.Outputs).map(([name, { Value }]) => [name, readable(Value)])),
    of: (type) => resources.filter((resource) => resource.type === type),
    [Symbol.dispose]: () => made.dispose(),
  };
}

/** A file as it is deployed beside the handler of each function, in no order. */
export function readAssets(synthesized: Synthesized, file: string): readonly string[] {
  const { directory, stacks } = synthesized.assembly;
  const manifest: unknown = JSON.parse(readFileSync(join(directory, `${stacks[0]?.id}.assets.json`), "utf8"));
  const { files } = z
    .object({
      files: z.record(z.string(), z.object({ source: z.object({ path: z.string(), packaging: z.string() }) })),
    })
    .parse(manifest);
  return Object.values(files)
    .filter(({ source }) => source.packaging === "zip")
    .map(({ source }) => readFileSync(join(directory, source.path, file), "utf8"));
}

function standInBundle(directory: string, name: string): string {
  const bundle = join(directory, name);
  mkdirSync(bundle);
  writeFileSync(join(bundle, "handler.mjs"), `export const handler = async () => ${JSON.stringify(name)};\n`);
  return bundle;
}

/** References as text: `Queue.Arn`, `Queue`, joined texts joined. Two references to one thing are equal texts. */
function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== "object" || value === null) return value;
  const reference = referenceSchema.safeParse(value);
  if (!reference.success) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, readable(one)]));
  if ("Ref" in reference.data) return reference.data.Ref;
  if ("Fn::GetAtt" in reference.data) return reference.data["Fn::GetAtt"].join(".");
  const [separator, parts] = reference.data["Fn::Join"];
  return parts.map((part) => String(readable(part))).join(separator);
}

const referenceSchema = z.union([
  z.strictObject({ Ref: z.string() }),
  z.strictObject({ "Fn::GetAtt": z.array(z.string()) }),
  z.strictObject({ "Fn::Join": z.tuple([z.string(), z.array(z.unknown())]) }),
]);
