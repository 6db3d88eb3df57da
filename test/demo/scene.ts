/** What the demo's cluster holds, as data: both kinds of cluster are filled from it, so that they show the same story. */
import { instanceIdFor } from "../rig/seed.ts";
import type { DemoOptions } from "./options.ts";

export interface SceneNode {
  readonly name: string;
  readonly instanceId: string;
  readonly zone: string;
}

export interface ScenePod {
  readonly namespace: string;
  readonly name: string;
  readonly nodeName: string;
  /** Value of its label `app`. */
  readonly app: string;
  readonly graceSeconds: number;
  readonly priorityClassName?: string;
}

export interface Scene {
  readonly nodes: readonly SceneNode[];
  /** Those among `nodes` that get a notice. */
  readonly interrupted: readonly SceneNode[];
  readonly pods: readonly ScenePod[];
}

export const NAMESPACES = { apps: "shop", platform: "platform" } as const;
/** One of its pods on every node; a drain leaves them alone. */
export const DAEMON_SET = { namespace: NAMESPACES.platform, name: "log-agent" } as const;
/** Allows no eviction: its only pod is the one that it wants. */
export const BUDGET = {
  namespace: NAMESPACES.apps,
  name: "checkout-budget",
  app: "checkout",
  minAvailable: 1,
} as const;

/** How long every pod takes to stop, whatever its grace. */
export const POD_STOP_MILLISECONDS = 3_000;

/**
 * Shorter than by default, so that nobody waits long. With the 100 s of grace of the pod behind the budget, it is
 * deleted past the budget 15 s after the notice: when its grace just fits before the last call, 5 s before the deadline.
 */
export const POLICY = { default: { pdbPatienceSeconds: 10 } } as const;

const ZONES = ["eu-west-1a", "eu-west-1b", "eu-west-1c"] as const;

export function makeScene({ nodes: count, pods, interrupt }: Pick<DemoOptions, "nodes" | "pods" | "interrupt">): Scene {
  const nodes = numbers(count).map((n) => ({
    name: `node-${String(n).padStart(String(count).length, "0")}`,
    instanceId: instanceIdFor(n),
    zone: ZONES[(n - 1) % ZONES.length] ?? ZONES[0],
  }));
  const interrupted = nodes.slice(0, interrupt);
  const nameAt = (place: number, among: readonly SceneNode[]) => among[place % among.length]?.name ?? "";

  const ordinary = numbers(pods).map((n) => ({
    ...{ namespace: NAMESPACES.apps, name: `web-${n}`, nodeName: nameAt(n - 1, nodes) },
    ...{ app: "web", graceSeconds: 30 },
  }));
  const special = [
    { namespace: NAMESPACES.apps, name: "checkout-0", app: BUDGET.app, graceSeconds: 100 },
    { namespace: NAMESPACES.apps, name: "report-0", app: "report", graceSeconds: 60 },
    {
      ...{ namespace: NAMESPACES.platform, name: "dns-0", app: "dns", graceSeconds: 30 },
      priorityClassName: "system-cluster-critical",
    },
  ];
  const placed = special.map((pod, place) => ({ ...pod, nodeName: nameAt(place, interrupted) }));
  return { nodes, interrupted, pods: [...ordinary, ...placed] };
}

/** From 1 to `count`. */
function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
