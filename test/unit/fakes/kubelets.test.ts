/** The play-acting kubelets of the embedded cluster: when pods end. */
import { expect, test } from "vitest";
import { HeldClock } from "../../fakes/held-clock.ts";
import { ClusterModel } from "../../fakes/kube-api/cluster-model.ts";

function open(podStopMs?: number) {
  const clock = new HeldClock();
  const model = new ClusterModel({ clock, ...(podStopMs !== undefined && { podStopMs }) });
  return { clock, model, names: () => model.pods().map(({ name }) => name) };
}

test("a deleted pod ends when its containers have stopped", () => {
  const { clock, model, names } = open(5_000);
  model.addPod({ name: "web" });
  model.deletePod("default", "web", {});
  clock.advance(4_999);
  expect(names()).toEqual(["web"]);
  clock.advance(1);
  expect(names()).toEqual([]);
});

test("a pod that takes longer than its grace is killed at its end", () => {
  const { clock, model, names } = open(600_000);
  model.addPod({ name: "slow", graceSeconds: 30 });
  model.deletePod("default", "slow", {});
  clock.advance(29_999);
  expect(names()).toEqual(["slow"]);
  clock.advance(1);
  expect(names()).toEqual([]);
});

test("less grace brings the end forward", () => {
  const { clock, model, names } = open(600_000);
  model.addPod({ name: "slow", graceSeconds: 300 });
  model.deletePod("default", "slow", {});
  clock.advance(20_000);
  model.deletePod("default", "slow", { graceSeconds: 60 });
  expect(model.pods()[0]?.deletionTimestamp).toEqual(new Date("2026-01-01T12:01:00Z"));
  clock.advance(59_999);
  expect(names()).toEqual(["slow"]);
  clock.advance(1);
  expect(names()).toEqual([]);
});

test("without a kubelet pods stay, whatever their grace, until they are deleted by force", () => {
  const { clock, model, names } = open();
  model.addNode({ name: "node-1" });
  model.addPod({ name: "web", nodeName: "node-1" });
  model.silenceKubelet("node-1");
  model.deletePod("default", "web", {});
  clock.advance(3_600_000);
  expect(names()).toEqual(["web"]);
  expect(model.node("node-1")?.ready).toBe("Unknown");
  model.deletePod("default", "web", { graceSeconds: 0 });
  expect(names()).toEqual([]);
});

test("a grace that is over once it is shortened ends the pod's time now, and the kubelet takes what it was given", () => {
  const { clock, model, names } = open(600_000);
  model.addPod({ name: "slow", graceSeconds: 300 });
  model.deletePod("default", "slow", {});
  clock.advance(100_000);
  model.deletePod("default", "slow", { graceSeconds: 60 });
  expect(model.pods()[0]?.deletionTimestamp).toEqual(clock.now());
  clock.advance(59_999);
  expect(names()).toEqual(["slow"]);
  clock.advance(1);
  expect(names()).toEqual([]);
});
