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
import { type Budget, budgetRefusal } from "./budgets.ts";
import type { StoredPod } from "./pod-life.ts";
import { type DeletionRequest, PodStore } from "./pod-store.ts";
import { alreadyExists, namespaceTerminating, notFound } from "./refusal.ts";

export interface StoredEvent {
  readonly namespace: string;
  readonly name: string;
  readonly regarding: { readonly kind: string; readonly name: string; readonly uid: string };
  readonly type: string;
  readonly reason: string;
  readonly note: string;
}

export type Change =
  | { readonly kind: "node" | "node-gone"; readonly node: ClusterNode }
  | { readonly kind: "pod" | "pod-gone"; readonly pod: Pod }
  | { readonly kind: "event"; readonly event: StoredEvent };

export interface ModelSettings {
  readonly clock?: Pick<Clock, "now">;
  /** How long pods take to stop once they are deleted, never longer than their grace. Default 0. */
  readonly podStopMs?: number;
}

export class ClusterModel {
  readonly #now: () => Date;
  readonly #pods: PodStore;
  readonly #nodes = new Map<string, ClusterNode>();
  readonly #events = new Map<string, StoredEvent>();
  readonly #budgets: Budget[] = [];
  readonly #namespaces = new Map<string, "active" | "terminating">([["default", "active"]]);
  readonly #listeners = new Set<(change: Change) => void>();
  #version = 1;

  constructor({ clock = systemClock, podStopMs = 0 }: ModelSettings = {}) {
    this.#now = () => clock.now();
    this.#pods = new PodStore({ now: this.#now, podStopMs, tell: (kind, pod) => this.#tell({ kind, pod }) });
  }

  /** Calls back after each change, until the function it gives is called. */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  // What tests and demos do to the cluster.

  addNode(given: Partial<ClusterNode> & { name: string }): ClusterNode {
    const own = { uid: given.uid ?? randomUUID(), createdAt: given.createdAt ?? this.#now() };
    return this.#putNode({ ...aNode(given), ...own });
  }

  removeNode(name: string): void {
    const node = this.#nodes.get(name);
    this.#nodes.delete(name);
    if (node) this.#tell({ kind: "node-gone", node });
  }

  /** Its namespace is made where needed. `stopsAfterMs`: if not what the model's pods take to stop. */
  addPod(given: Partial<Pod> & { name: string; stopsAfterMs?: number }): Pod {
    const { stopsAfterMs, ...own } = given;
    const pod = { ...aPod(own), uid: own.uid ?? randomUUID() };
    if (!this.#namespaces.has(pod.namespace)) this.#namespaces.set(pod.namespace, "active");
    this.#pods.put({ pod, createdAt: this.#now(), ...(stopsAfterMs !== undefined && { stopsAfterMs }) });
    return pod;
  }

  /** As its kubelet or controller would: `changePod(pod, { ready: false })`. */
  changePod({ namespace, name }: Pick<Pod, "namespace" | "name">, change: Partial<Pod>): void {
    const stored = this.#pods.get(namespace, name);
    this.#pods.put({ ...stored, pod: { ...stored.pod, ...change } });
  }

  addBudget(budget: Budget): void {
    this.#budgets.push(budget);
  }

  terminateNamespace(name: string): void {
    this.#namespaces.set(name, "terminating");
  }

  /** The node's kubelet does nothing more: its pods never end by themselves. */
  silenceKubelet(nodeName: string): void {
    this.#pods.silenceKubelet(nodeName);
    const node = this.#nodes.get(nodeName);
    if (node) this.#putNode({ ...node, ready: "Unknown" });
  }

  // What tests, demos and requests look at.

  nodes(): readonly ClusterNode[] {
    return [...this.#nodes.values()];
  }

  node(name: string): ClusterNode | undefined {
    return this.#nodes.get(name);
  }

  pods(): readonly Pod[] {
    return this.storedPods().map(({ pod }) => pod);
  }

  storedPods(): readonly StoredPod[] {
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
    const changed = {
      ...node,
      labels: merged(node.labels, change.labels),
      annotations: merged(node.annotations, change.annotations),
      taints: change.taints ?? node.taints,
      unschedulable: change.unschedulable ?? node.unschedulable,
    };
    return isDeepStrictEqual(changed, node) ? node : this.#putNode(changed);
  }

  deletePod(namespace: string, name: string, deletion: DeletionRequest): void {
    this.#pods.delete(namespace, name, deletion);
  }

  evictPod(namespace: string, name: string, deletion: DeletionRequest): void {
    this.#refuseIfTerminating("pods", name, namespace);
    const { pod } = this.#pods.get(namespace, name);
    const refusal = budgetRefusal(pod, this.#budgets, this.pods());
    if (refusal) throw refusal;
    this.#pods.delete(namespace, name, deletion);
  }

  createEvent(event: StoredEvent): void {
    if (!this.#namespaces.has(event.namespace)) throw notFound("namespaces", event.namespace);
    this.#refuseIfTerminating("events", event.name, event.namespace);
    const key = podName(event);
    if (this.#events.has(key)) throw alreadyExists("events", event.name);
    this.#events.set(key, event);
    this.#tell({ kind: "event", event });
  }

  /** Lets the kubelets end what has stopped by now. Reading and requests do it too. */
  settle(): void {
    this.#pods.settle();
  }

  #refuseIfTerminating(resource: string, name: string, namespace: string): void {
    if (this.#namespaces.get(namespace) === "terminating") throw namespaceTerminating(resource, name, namespace);
  }

  #putNode(given: ClusterNode): ClusterNode {
    const node = { ...given, resourceVersion: String(++this.#version) };
    this.#nodes.set(node.name, node);
    this.#tell({ kind: "node", node });
    return node;
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}

function merged(before: ClusterNode["labels"], change: NodeChange["labels"] = {}): ClusterNode["labels"] {
  const after = { ...before };
  for (const [key, value] of Object.entries(change)) {
    if (value === undefined) delete after[key];
    else after[key] = value;
  }
  return after;
}
