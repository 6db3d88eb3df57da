/** Builds domain Pods for tests: what a test doesn't name is an ordinary, Ready pod of a ReplicaSet on `node-1`. */
import type { Pod } from "../../shared/domain/pod.ts";

/** A Running, Ready pod `default/pod-1` on `node-1` with 30 s of grace, owned by a ReplicaSet. */
export function aPod(given: Partial<Pod> = {}): Pod {
  return {
    namespace: "default",
    name: "pod-1",
    uid: `uid-of-${given.name ?? "pod-1"}`,
    nodeName: "node-1",
    phase: "Running",
    ready: true,
    labels: { app: "web" },
    annotations: {},
    controller: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web" },
    tolerations: [],
    priorityClassName: undefined,
    graceSeconds: 30,
    deletionTimestamp: undefined,
    ...given,
  };
}
