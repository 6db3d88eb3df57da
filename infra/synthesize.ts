/** From a configuration to a cloud assembly, with no credentials, no network and no look-up: for the CLI, tools and tests. */
import { readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Annotations, App, Validations } from "aws-cdk-lib";
import type { CloudAssembly } from "aws-cdk-lib/cx-api";
import { AwsSolutionsChecks } from "cdk-nag";
import { fencingPolicies } from "../shared/domain/policy.ts";
import { stageBundle } from "./bundle.ts";
import { type DeployConfig, parseDeployConfig } from "./deploy-config.ts";
import { DeployConfigFaults } from "./deploy-config-faults.ts";
import { ControlPlane } from "./stacks/control-plane.ts";

const ROOT = resolve(import.meta.dirname, "..");

/** Folders of built bundles. */
export interface Bundles {
  readonly drainNode: string;
  readonly fenceNode: string;
}

const BUILT: Bundles = { drainNode: join(ROOT, "dist/drain-node"), fenceNode: join(ROOT, "dist/fence-node") };

export interface Synthesis {
  /** Context as in cdk.json; the CDK's command line passes its own by the environment instead. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Where the assembly is written; the CDK's command line gives its own. */
  readonly outdir?: string;
  /** Those in dist/, unless a test has its own. */
  readonly bundles?: Partial<Bundles>;
}

/**
 * Reads the context keys `nodekeeper-config` (a JSON file) or else `nodekeeper`, and writes the assembly.
 * @throws DeployConfigFaults, or an error that says what the audit found.
 */
export function synthesize({ context, outdir, bundles = {} }: Synthesis = {}): CloudAssembly {
  const app = new App({ ...(context && { context }), ...(outdir && { outdir }) });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const config = readConfig(app);
  using staged = new DisposableStack();
  const stage = (built: string) => {
    const folder = stageBundle(built, config);
    // The assembly has its own copy by then.
    staged.defer(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  };
  const built = { ...BUILT, ...bundles };
  const stack = new ControlPlane(app, `nodekeeper-${config.cluster}`, {
    config,
    bundles: {
      drainNode: stage(built.drainNode),
      fenceNode: fencingPolicies(config.policy).length > 0 ? stage(built.fenceNode) : undefined,
    },
    description: `nodekeeper: control plane for the nodes of cluster ${config.cluster}`,
    tags: { "nodekeeper:cluster": config.cluster },
    env: { ...(config.account && { account: config.account }), ...(config.region && { region: config.region }) },
  });
  if (config.api.caFile.isExample) {
    Annotations.of(stack).addWarningV2("nodekeeper:example-ca", EXAMPLE_CA_WARNING);
  }
  return app.synth();
}

const EXAMPLE_CA_WARNING =
  "api.caFile is the example certificate: good for a look at the templates, but no relay can be reached with it. " +
  "See docs/install.md.";

function readConfig(app: App): DeployConfig {
  const file: unknown = app.node.tryGetContext("nodekeeper-config");
  if (typeof file !== "string") return parseDeployConfig(app.node.tryGetContext("nodekeeper"), ROOT);
  return parseDeployConfig(readJson(file), dirname(resolve(file)));
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new DeployConfigFaults([`nodekeeper-config: ${file} can't be read: ${why}; for example my-cluster.json`]);
  }
}
