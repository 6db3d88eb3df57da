/** The ports of one run of fence-node, over a link on which anything may happen, with the judge beside each deed. */

import { FENCING_LEASE_NAMESPACE } from "../../../../shared/domain/fencing-lease.ts";
import { FENCING_RECORD_ANNOTATION } from "../../../../shared/domain/fencing-record.ts";
import type { Lease } from "../../../../shared/domain/lease.ts";
import type { ClusterNode, NodeChange } from "../../../../shared/domain/node.ts";
import type { Pod, PodRef } from "../../../../shared/domain/pod.ts";
import { ClusterUnavailable, type DeletionAnswer } from "../../../../shared/ports/cluster.ts";
import type { FencingCluster } from "../../../../shared/ports/fencing-cluster.ts";
import type { Instance, StoppableInstances } from "../../../../shared/ports/instances.ts";
import { type SimInstance, throttled } from "./cloud.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { Gate } from "./gate.ts";
import type { Judge } from "./judge.ts";
import type { Link, Outcome } from "./link.ts";
import type { Timeline } from "./timeline.ts";

export interface RunPortParts {
  readonly timeline: Timeline;
  readonly link: Link;
  readonly state: ClusterState;
  readonly judge: Judge;
  /** Of the run. */
  readonly gate: Gate;
  readonly timeBudget: AbortSignal;
  /** As the API server's cache has them, which may be some seconds old. */
  readonly cachedNodes: () => readonly ClusterNode[];
  readonly instances: () => readonly SimInstance[];
  readonly nameOfInstance: (id: string) => string | undefined;
  readonly cloud: { isAway: number };
}

const REQUEST_MS = 3_000;

export function runPorts(parts: RunPortParts): { cluster: FencingCluster; instances: StoppableInstances } {
  const { timeline, link, state, judge, gate, timeBudget, cachedNodes } = parts;
  /** When the API server last told this run of each Lease. */
  const told = new Map<string, { agent?: number; kubelet?: number }>();
  const tell = (kind: "agent" | "kubelet", name: string) => {
    const times = told.get(name) ?? {};
    times[kind] = timeline.nowMs;
    told.set(name, times);
  };
  /** Of the older of the Leases that it asked for; who never looked is taken to look right now, and to see all. */
  const lookedAtMs = (name: string) => {
    const { agent = timeline.nowMs, kubelet = timeline.nowMs } = told.get(name) ?? {};
    return Math.min(agent, kubelet);
  };

  let pending = 0;

  function ask<T>(isWrite: boolean, handle: () => T): Promise<Outcome<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome<T>>();
    pending += 1;
    // Of requests that are waited for together the last one lets the story go on.
    const close = () => {
      pending -= 1;
      if (pending === 0) timeline.movePromises();
    };
    const giveUp = () => {
      close();
      reject(new ClusterUnavailable("the invocation's time is over"));
    };
    if (timeBudget.aborted) giveUp();
    timeBudget.addEventListener("abort", giveUp, { once: true });
    link.send({
      ...{ isWrite, timeoutMs: REQUEST_MS, gate, handle },
      deliver: (outcome) => {
        if (timeBudget.aborted) return;
        timeBudget.removeEventListener("abort", giveUp);
        close();
        resolve(outcome);
      },
    });
    return promise;
  }

  async function get<T>(isWrite: boolean, handle: () => T): Promise<T> {
    const outcome = await ask(isWrite, handle);
    if (outcome.kind === "answered") return outcome.answer;
    throw new ClusterUnavailable(outcome.kind);
  }

  async function remove(handle: () => boolean): Promise<DeletionAnswer> {
    const outcome = await ask<DeletionAnswer>(true, () =>
      handle() ? { kind: "deleted" } : { kind: "unanswered", because: "conflict" },
    );
    return outcome.kind === "answered" ? outcome.answer : { kind: "unanswered", because: outcome.kind };
  }

  const kindOf = (namespace: string) => (namespace === FENCING_LEASE_NAMESPACE ? "agent" : "kubelet");
  const leasesOf = (namespace: string) => (kindOf(namespace) === "agent" ? state.agentLeases : state.kubeletLeases);

  const cluster: FencingCluster = {
    listLeases: (namespace) =>
      get(false, (): readonly Lease[] => {
        for (const name of state.nodes.keys()) tell(kindOf(namespace), name);
        return [...leasesOf(namespace).values()];
      }),
    findLease: (namespace, name) =>
      get(false, (): Lease | undefined => {
        tell(kindOf(namespace), name);
        return leasesOf(namespace).get(name);
      }),
    listNodes: () => get(false, cachedNodes),
    findNode: (name) => get(false, () => state.nodes.get(name)),
    patchNode: (node, change) => {
      // What a patch means is told by what it changes; the look before it is the one before it was sent.
      const lookedAt = lookedAtMs(node.name);
      return get(true, () => {
        const written = state.patchNode(node, change);
        if (written.kind !== "written") return { kind: written.kind };
        judgePatch(judge, node, change, lookedAt);
        return { kind: "patched", node: written.node };
      });
    },
    listPodsOnNode: (nodeName) => get(false, () => (state.podsOn.has(nodeName) ? [podOn(nodeName)] : [])),
    postEvent: () => get(true, () => undefined),
    forceDeletePod: (pod: PodRef) => {
      const lookedAt = lookedAtMs(pod.name);
      return remove(() => {
        if (state.podsOn.delete(pod.name)) judge.stepped("delete pod", pod.name, lookedAt);
        return true;
      });
    },
    listVolumeAttachments: () => get(false, () => []),
    deleteVolumeAttachment: () => remove(() => true),
    deleteNode: (node) => {
      const lookedAt = lookedAtMs(node.name);
      return remove(() => {
        if (state.nodes.get(node.name)?.resourceVersion !== node.resourceVersion) return false;
        judge.stepped("delete node", node.name, lookedAt);
        state.removeNode(node.name);
        return true;
      });
    },
    findConfigMap: () => get(false, () => state.map),
    writeConfigMap: (map) =>
      get(true, () => {
        const resourceVersion = state.writeMap(map);
        return resourceVersion === undefined ? { kind: "conflict" } : { kind: "written", resourceVersion };
      }),
  };
  return { cluster, instances: cloudPort({ ...parts, lookedAtMs }) };
}

interface CloudPortParts extends RunPortParts {
  readonly lookedAtMs: (name: string) => number;
}

function cloudPort(parts: CloudPortParts): StoppableInstances {
  const { timeline, gate, judge, cloud, instances, nameOfInstance, lookedAtMs } = parts;
  async function ask<T>(handle: () => T): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    timeline.after(100, () =>
      gate.run(() => {
        timeline.movePromises();
        resolve(undefined);
      }),
    );
    await promise;
    if (cloud.isAway > 0) throw throttled();
    return handle();
  }
  return {
    listInstances: (ids) =>
      ask(() =>
        instances().flatMap((one): readonly Instance[] =>
          ids.includes(one.id) ? [one.describe()].filter((said) => said !== undefined) : [],
        ),
      ),
    endInstance: (id, how) =>
      ask(() => {
        const name = nameOfInstance(id);
        if (name === undefined) throw throttled();
        judge.stepped("stop", name, lookedAtMs(name));
        judge.counts[how === "stop" ? "stopped" : "terminated"] += 1;
        instances()
          .find((one) => one.id === id)
          ?.end(how);
      }),
  };
}

function judgePatch(judge: Judge, node: ClusterNode, { annotations = {}, taints = [] }: NodeChange, lookedAt: number) {
  const isMarked = node.annotations[FENCING_RECORD_ANNOTATION] !== undefined;
  if (taints.some(({ key }) => key === "node.kubernetes.io/out-of-service"))
    judge.stepped("out-of-service", node.name, lookedAt);
  if (!(FENCING_RECORD_ANNOTATION in annotations)) return;
  if (annotations[FENCING_RECORD_ANNOTATION] === undefined) {
    judge.counts.lifted += 1;
    judge.say(`${node.name}: lifted`);
  } else if (!isMarked) {
    judge.counts.cordoned += 1;
    judge.stepped("cordon", node.name, lookedAt);
  }
}

/** A pod has the name of its node. */
function podOn(nodeName: string): Pod {
  return {
    ...{ namespace: "default", name: nodeName, uid: nodeName, nodeName, phase: "Running", ready: true },
    ...{ labels: {}, annotations: {}, controller: undefined, tolerations: [], priorityClassName: undefined },
    ...{ graceSeconds: 30, deletionTimestamp: undefined },
  };
}
