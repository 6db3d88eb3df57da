/** The demo's command line: what can be asked for, and a clear word about what can't. */
import { parseArgs } from "node:util";

export const CLUSTERS = ["embedded", "real"] as const;

export interface DemoOptions {
  readonly nodes: number;
  /** Ordinary pods, over all nodes; the scene adds a few of its own. */
  readonly pods: number;
  /** How many nodes get a notice. */
  readonly interrupt: number;
  readonly cluster: (typeof CLUSTERS)[number];
  readonly keep: boolean;
}

export type OptionsReading =
  | { readonly kind: "options"; readonly options: DemoOptions }
  | { readonly kind: "help" }
  | { readonly kind: "fault"; readonly message: string };

export const HELP = `usage: npm run demo -- [options]

Deploys the stack into an AWS emulator, starts relay and cluster, interrupts some nodes and shows what happens.
Everything runs on loopback and ends with the demo. It exits with 0 only if every interrupted node was drained.

  --nodes N       nodes of the cluster, 1 to 200 (default 10)
  --pods N        ordinary pods on them, 0 to 2000 (default 30)
  --interrupt N   nodes that get a spot interruption notice, 1 to --nodes (default 3)
  --cluster KIND  embedded: an API server in memory (default)
                  real: etcd, kube-apiserver, controllers; builds them once with Go 1.26, in ten minutes
  --keep          leave everything running after the summary, until Ctrl-C
  --help          this text`;

const LIMITS = {
  nodes: { min: 1, max: 200, byDefault: 10 },
  pods: { min: 0, max: 2000, byDefault: 30 },
  interrupt: { min: 1, byDefault: 3 },
} as const;

class OptionFault extends Error {}

export function readOptions(args: readonly string[]): OptionsReading {
  try {
    const { values } = parseArgs({ args: [...args], options: KNOWN });
    if (values.help) return { kind: "help" };
    const nodes = wholeNumber("nodes", values.nodes, LIMITS.nodes);
    const interrupt = { ...LIMITS.interrupt, max: nodes, byDefault: Math.min(LIMITS.interrupt.byDefault, nodes) };
    return {
      kind: "options",
      options: {
        nodes,
        pods: wholeNumber("pods", values.pods, LIMITS.pods),
        interrupt: wholeNumber("interrupt", values.interrupt, interrupt),
        cluster: clusterKind(values.cluster),
        keep: values.keep ?? false,
      },
    };
  } catch (error) {
    // What parseArgs throws names the option too.
    const isFault = error instanceof OptionFault || error instanceof TypeError;
    if (!isFault) throw error;
    return { kind: "fault", message: `${error.message}\nAll options: npm run demo -- --help` };
  }
}

/** What is going to happen, in a line. */
export function describeOptions({ nodes, pods, interrupt, cluster }: DemoOptions): string {
  return `nodekeeper demo: a cluster (${cluster}) of ${nodes} nodes and ${pods} ordinary pods; ${interrupt} will be interrupted`;
}

const KNOWN = {
  nodes: { type: "string" },
  pods: { type: "string" },
  interrupt: { type: "string" },
  cluster: { type: "string" },
  keep: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

interface Limits {
  readonly min: number;
  readonly max: number;
  readonly byDefault: number;
}

function wholeNumber(name: string, text: string | undefined, { min, max, byDefault }: Limits): number {
  if (text === undefined) return byDefault;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new OptionFault(
    `--${name}: "${text}" is not a whole number from ${min} to ${max}; for example --${name} ${byDefault}`,
  );
}

function clusterKind(text: string | undefined): DemoOptions["cluster"] {
  const kind = CLUSTERS.find((one) => one === (text ?? "embedded"));
  if (kind !== undefined) return kind;
  throw new OptionFault(`--cluster: "${text}" is not one of ${CLUSTERS.join(", ")}; for example --cluster embedded`);
}
