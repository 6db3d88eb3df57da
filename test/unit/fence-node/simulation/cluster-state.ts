/** What the API server holds: Nodes, both kinds of Lease, pods and the ConfigMap, each write under a version of its own. */
import { FENCING_ANNOTATION } from "../../../../shared/domain/fencing-lease.ts";
import type { Lease } from "../../../../shared/domain/lease.ts";
import type { ClusterNode, NodeChange } from "../../../../shared/domain/node.ts";
import type { ConfigMap } from "../../../../shared/ports/fencing-cluster.ts";

export const START = new Date("2026-01-01T12:00:00Z");

export interface StoredLease extends Lease {
  readonly uid: string;
}

interface AgentWrite {
  readonly name: string;
  readonly statement: string;
  readonly renewTime: Date;
  /** Undefined: to be created. */
  readonly base: { readonly uid: string; readonly resourceVersion: string } | undefined;
}

export type NodeWrite =
  | { readonly kind: "written"; readonly node: ClusterNode }
  | { readonly kind: "conflict" | "gone" };

export class ClusterState {
  readonly nodes = new Map<string, ClusterNode>();
  readonly agentLeases = new Map<string, StoredLease>();
  readonly kubeletLeases = new Map<string, StoredLease>();
  /** Names of the nodes whose pods are still there. */
  readonly podsOn = new Set<string>();
  map: ConfigMap | undefined;
  #version = 1;

  get nextVersion(): string {
    this.#version += 1;
    return String(this.#version);
  }

  /** Undefined where what was read is no longer there (409, 404), or is there already. */
  writeAgentLease({ name, statement, renewTime, base }: AgentWrite): StoredLease | undefined {
    const stored = this.agentLeases.get(name);
    if (stored?.uid !== base?.uid || stored?.resourceVersion !== base?.resourceVersion) return undefined;
    const resourceVersion = this.nextVersion;
    const annotations = { [FENCING_ANNOTATION]: statement };
    const lease = { name, uid: stored?.uid ?? `lease-${resourceVersion}`, resourceVersion, renewTime, annotations };
    this.agentLeases.set(name, lease);
    return lease;
  }

  /** The kubelet reads again and repeats until it holds, which comes to this. */
  writeKubeletLease(name: string, renewTime: Date): void {
    const resourceVersion = this.nextVersion;
    this.kubeletLeases.set(name, { name, uid: "kubelet", resourceVersion, renewTime, annotations: {} });
  }

  putNode(node: Omit<ClusterNode, "resourceVersion">): void {
    this.nodes.set(node.name, { ...node, resourceVersion: this.nextVersion });
  }

  /** What the control plane or the kubelet writes without a precondition. */
  changeNode(name: string, change: Partial<Omit<ClusterNode, "resourceVersion">>): void {
    const node = this.nodes.get(name);
    if (node) this.putNode({ ...node, ...change });
  }

  patchNode(base: ClusterNode, { labels, annotations, ...change }: NodeChange): NodeWrite {
    const node = this.nodes.get(base.name);
    if (node === undefined) return { kind: "gone" };
    if (node.resourceVersion !== base.resourceVersion) return { kind: "conflict" };
    const patched = {
      ...node,
      ...change,
      labels: merged(node.labels, labels),
      annotations: merged(node.annotations, annotations),
      resourceVersion: this.nextVersion,
    };
    this.nodes.set(node.name, patched);
    return { kind: "written", node: patched };
  }

  /** Its Leases go with it. */
  removeNode(name: string): void {
    this.nodes.delete(name);
    this.agentLeases.delete(name);
    this.kubeletLeases.delete(name);
  }

  writeMap({ resourceVersion, ...map }: Omit<ConfigMap, "resourceVersion"> & { resourceVersion: string | undefined }) {
    if (this.map?.resourceVersion !== resourceVersion) return undefined;
    this.map = { ...map, resourceVersion: this.nextVersion };
    return this.map.resourceVersion;
  }
}

export function nodeObject(name: string, instanceId: string, bootId: string): Omit<ClusterNode, "resourceVersion"> {
  return {
    ...{ name, uid: `${name}/${instanceId}`, providerId: `aws:///eu-west-1a/${instanceId}`, bootId, ready: "True" },
    ...{ labels: {}, annotations: {}, taints: [], unschedulable: false, createdAt: START },
  };
}

type Texts = ClusterNode["labels"];

function merged(texts: Texts, change: NodeChange["labels"] = {}): Texts {
  const all = Object.entries({ ...texts, ...change });
  return Object.fromEntries(all.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])));
}
