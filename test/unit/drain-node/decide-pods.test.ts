/** Which pods of a node are work: the table of kubectl drain and Karpenter, and our own rows. */
import { describe, expect, it } from "vitest";
import { classifyPod } from "../../../functions/drain-node/decide/pods.ts";
import { INTERRUPTION_TAINT, MIRROR_POD_ANNOTATION } from "../../../shared/domain/keys.ts";
import { aPod } from "../../builders/a-pod.ts";

const NOW = new Date("2026-01-01T12:00:00Z");
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);
const DAEMON = { apiVersion: "apps/v1", kind: "DaemonSet", name: "logs" };

describe("pods that a drain leaves alone", () => {
  it.each([
    ["a mirror pod", { annotations: { [MIRROR_POD_ANNOTATION]: "hash" } }, "static"],
    ["a pod whose owner is its Node", { controller: { apiVersion: "v1", kind: "Node", name: "node-1" } }, "static"],
    ["a pod that succeeded", { phase: "Succeeded" }, "finished"],
    ["a pod that failed", { phase: "Failed" }, "finished"],
    ["case 15: a DaemonSet's pod", { controller: DAEMON }, "of a DaemonSet"],
    [
      "case 15: a DaemonSet's pod that is terminating",
      { controller: DAEMON, deletionTimestamp: ago(-5) },
      "of a DaemonSet",
    ],
    [
      "a pod that tolerates our taint by key",
      { tolerations: [{ key: INTERRUPTION_TAINT }] },
      "tolerates the interruption",
    ],
  ] as const)("%s", (_, given, because) => {
    expect(classifyPod(aPod(given), NOW)).toEqual({ kind: "skipped", because });
  });
});

describe("pods that a drain takes", () => {
  it.each([
    ["an ordinary pod", {}, "apps"],
    ["a pod without an owner", { controller: undefined }, "apps"],
    ["a pending pod", { phase: "Pending", ready: false }, "apps"],
    ["a pod that tolerates everything", { tolerations: [{ key: undefined }] }, "apps"],
    ["a pod that tolerates another taint", { tolerations: [{ key: "node.kubernetes.io/not-ready" }] }, "apps"],
    ["a DaemonSet of another API group", { controller: { ...DAEMON, apiVersion: "acme.io/v1" } }, "apps"],
    ["a cluster-critical pod", { priorityClassName: "system-cluster-critical" }, "critical"],
    ["a node-critical pod", { priorityClassName: "system-node-critical" }, "critical"],
    ["a pod of another high priority class", { priorityClassName: "very-important" }, "apps"],
    [
      "a pod of the relay, though it is critical too",
      {
        namespace: "nodekeeper",
        labels: { "app.kubernetes.io/name": "nodekeeper-relay" },
        priorityClassName: "system-cluster-critical",
      },
      "relay",
    ],
    [
      "a pod that only looks like the relay, in another namespace",
      { labels: { "app.kubernetes.io/name": "nodekeeper-relay" } },
      "apps",
    ],
  ] as const)("%s", (_, given, tier) => {
    expect(classifyPod(aPod(given), NOW)).toEqual({ kind: "work", tier });
  });
});

describe("pods that are ending", () => {
  it("is waited for until a minute past the end of its grace", () => {
    const endsAt = ago(60);
    expect(classifyPod(aPod({ deletionTimestamp: endsAt }), NOW)).toEqual({
      kind: "terminating",
      tier: "apps",
      endsAt,
    });
  });
  it("is stuck after that, and nobody waits for it", () => {
    expect(classifyPod(aPod({ deletionTimestamp: ago(61) }), NOW)).toEqual({ kind: "stuck" });
  });
});
