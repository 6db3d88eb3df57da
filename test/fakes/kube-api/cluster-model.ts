/**
 * The state of a small cluster and the rules by which requests change it. The embedded API server and the in-memory
 * `Cluster` both stand on it; tests fill it, read it, and play kubelet, controller and operator.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { systemClock } from "../../../shared/adapters/system-clock.ts";
import type { ClusterNode, NodeChange } from "../../../shared/domain/node.ts";
import { type Pod, podName } from "../../../shared/domain/pod.ts";
import type { Clock } from "../../../shared/ports/clock.ts";
import { aNode } from "../../builders/a-node.ts";
import { aPod } from "../../builders/a-pod.ts";
import type { DeletionRequest, StoredEvent } from "./bodies.ts";
import { type Budget, budgetRefusal } from "./budgets.ts";
import { Pods } from "./pods.ts";
import { alreadyExists, namespaceTerminating, notFound } from "./refusal.ts";
import { type Preconditions, requirePreconditions, StoredObjects } from "./stored-objects.ts";

interface ModelSettings {
  readonly clock?: Pick<Clock, "now">;
  /** How long pods take to stop once they are deleted, never longer than their grace. Default 0. */
  readonly podStopMs?: number;
}

export interface LeaseSeed {
  readonly renewTime: Date | undefined;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface VolumeAttachmentSeed {
  readonly nodeName: string;
  readonly persistentVolume: string;
}

export interface ConfigMapData {
  readonly data: Readonly<Record<string, string>>;
}

export class ClusterModel {
  readonly #pods: Pods;
  readonly #nodes = new Map<string, ClusterNode>();
  readonly #events = new Map<string, StoredEvent>();
  readonly #budgets: Budget[] = [];
  readonly #namespaces = new Map<string, "active" | "terminating">([["default", "active"]]);
  #version = 1;
  readonly leases = new StoredObjects<LeaseSeed>("leases.coordination.k8s.io", () => this.#nextVersion());
  readonly attachments = new StoredObjects<VolumeAttachmentSeed>("volumeattachments.storage.k8s.io", () =>
    this.#nextVersion(),
  );
  readonly configMaps = new StoredObjects<ConfigMapData>("configmaps", () => this.#nextVersion());

  constructor({ clock = systemClock, podStopMs = 0 }: ModelSettings = {}) {
    const isSilent = (nodeName: string) => this.node(nodeName)?.ready === "Unknown";
    this.#pods = new Pods({ now: () => clock.now(), podStopMs, isSilent });
  }

  // What tests and demos do to the cluster.

  addNode(given: Partial<ClusterNode> & { name: string }): ClusterNode {
    return this.#putNode(aNode({ uid: randomUUID(), ...given }));
  }

  removeNode(name: string): void {
    this.#nodes.delete(name);
  }

  /** Its namespace is made where needed. */
  addPod(given: Partial<Pod> & { name: string }): Pod {
    const pod = aPod({ uid: randomUUID(), ...given });
    if (!this.#namespaces.has(pod.namespace)) this.#namespaces.set(pod.namespace, "active");
    this.#pods.add(pod);
    return pod;
  }

  addBudget(budget: Budget): void {
    this.#budgets.push(budget);
  }

  terminateNamespace(name: string): void {
    this.#namespaces.set(name, "terminating");
  }

  /** The node's kubelet does nothing more: its pods never end by themselves. */
  silenceKubelet(nodeName: string): void {
    this.setReady(nodeName, "Unknown");
  }

  setReady(nodeName: string, ready: ClusterNode["ready"]): void {
    const node = this.#nodes.get(nodeName);
    if (node && node.ready !== ready) this.#putNode({ ...node, ready });
  }

  // What tests, demos and requests look at.

  nodes(): readonly ClusterNode[] {
    return [...this.#nodes.values()];
  }

  node(name: string): ClusterNode | undefined {
    return this.#nodes.get(name);
  }

  pods(): readonly Pod[] {
    return this.#pods.list();
  }

  events(): readonly StoredEvent[] {
    return [...this.#events.values()];
  }

  budgets(): readonly Budget[] {
    return this.#budgets;
  }

  // What requests do. They throw a Refusal.

  /** A change that changes nothing leaves the version as it is, as the API server does. */
  changeNode(node: ClusterNode, change: NodeChange): ClusterNode {
    const labels = merged(node.labels, change.labels);
    const annotations = merged(node.annotations, change.annotations);
    const changed = { ...node, ...change, labels, annotations };
    return isDeepStrictEqual(changed, node) ? node : this.#putNode(changed);
  }

  deleteNode(name: string, preconditions: Preconditions): void {
    const node = this.#nodes.get(name);
    if (node === undefined) throw notFound("nodes", name);
    requirePreconditions(`nodes "${name}"`, node, preconditions);
    this.removeNode(name);
  }

  deletePod(namespace: string, name: string, deletion: DeletionRequest): void {
    this.#pods.delete(namespace, name, deletion);
  }

  evictPod(namespace: string, name: string, deletion: DeletionRequest): void {
    this.#requireActive(namespace, "pods", name);
    const pods = this.pods();
    const pod = pods.find((one) => one.namespace === namespace && one.name === name);
    const refusal = pod && budgetRefusal(pod, this.#budgets, pods);
    if (refusal) throw refusal;
    this.#pods.delete(namespace, name, deletion);
  }

  createEvent(event: StoredEvent): void {
    this.#requireActive(event.namespace, "events", event.name);
    if (this.#events.has(podName(event))) throw alreadyExists("events", event.name);
    this.#events.set(podName(event), event);
  }

  #requireActive(namespace: string, resource: string, name: string): void {
    const state = this.#namespaces.get(namespace);
    if (state === undefined) throw notFound("namespaces", namespace);
    if (state === "terminating") throw namespaceTerminating(resource, name, namespace);
  }

  #nextVersion(): string {
    return String(++this.#version);
  }

  #putNode(given: ClusterNode): ClusterNode {
    const node = { ...given, resourceVersion: this.#nextVersion() };
    this.#nodes.set(node.name, node);
    return node;
  }
}

function merged(before: ClusterNode["labels"], change: NodeChange["labels"] = {}): ClusterNode["labels"] {
  const after = Object.entries({ ...before, ...change });
  return Object.fromEntries(after.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
