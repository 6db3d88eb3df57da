/** Whose node is it? By instance id, and by nothing else. */
import { describe, expect, it } from "vitest";
import { drainNodes } from "../../../functions/drain-node/drain-node.ts";
import { DRAINING_LABEL, INSTANCE_ID_LABEL } from "../../../shared/domain/keys.ts";
import { providerIdOf } from "../../builders/a-node.ts";
import { aWorld, decisions, drain, idOf, interruptionOf, podsOn } from "./world.ts";

describe("which node", () => {
  it("case 14: is found by providerID where its name says nothing, and labelled then", async () => {
    const { clock, model, cluster, tools } = aWorld();
    await drain([interruptionOf(1)], tools, clock);
    expect(model.node("node-1")?.labels[INSTANCE_ID_LABEL]).toBe(idOf(1));
    expect(cluster.counts.get("list nodes")).toBe(4);
  });

  it("case 27: two clusters with the same names and addresses: only the instance's own node is touched", async () => {
    const blue = aWorld();
    const red = aWorld();
    red.model.removeNode("node-1");
    red.model.addNode({ name: "node-1", providerId: providerIdOf(idOf(99)), labels: {} });
    red.instances.put({ id: idOf(1), tags: { "kubernetes.io/cluster/blue": "owned" } });
    await drain([interruptionOf(1)], blue.tools, blue.clock);
    await drain([interruptionOf(1)], { ...red.tools, clusterName: "red" }, red.clock);
    expect(blue.model.node("node-1")?.unschedulable).toBe(true);
    expect(red.model.node("node-1")?.unschedulable).toBe(false);
    expect(podsOn(red.model, "node-1")).toContain("web-1-1");
  });

  it("case 2: an instance of another cluster is acknowledged without action, and EC2 isn't asked again for minutes", async () => {
    const { clock, instances, facts, cluster, tools } = aWorld();
    instances.put({ id: idOf(99), tags: { "kubernetes.io/cluster/red": "owned" } });
    await drain([interruptionOf(99)], tools, clock);
    await drain([interruptionOf(99)], tools, clock);
    expect(decisions(facts)).toEqual(["foreign", "foreign"]);
    expect(instances.questions).toEqual([[idOf(99)]]);
    expect(cluster.counts.get("patch nodes")).toBeUndefined();
  });

  it("case 4: EC2 throttles during a burst: known nodes are drained all the same, nobody is taken for foreign", async () => {
    const { clock, model, instances, facts, tools } = aWorld({ nodes: 3 });
    instances.refuse("RequestLimitExceeded");
    const { ended } = await drain(
      [1, 2, 3, 99].map((n) => interruptionOf(n)),
      tools,
      clock,
    );
    expect(model.nodes().map((node) => node.labels[DRAINING_LABEL])).toEqual(["drained", "drained", "drained"]);
    expect(ended.map((outcome) => outcome?.kind)).toEqual(["done", "done", "done", "done"]);
    expect(decisions(facts)).toContain("not-joined");
    expect(decisions(facts)).not.toContain("foreign");
  });

  it("EC2 isn't asked where the cluster knows the node", async () => {
    const { clock, instances, tools } = aWorld();
    await drain([interruptionOf(1)], tools, clock);
    expect(instances.questions).toEqual([]);
  });

  it("an instance that joins after its notice is cordoned on arrival", async () => {
    const { clock, model, instances, tools } = aWorld();
    instances.put({ id: idOf(7), tags: { "kubernetes.io/cluster/blue": "owned" } });
    expect(await drainNodes([interruptionOf(7)], tools)).toMatchObject([{ kind: "again" }]);
    model.addNode({ name: "node-7", providerId: providerIdOf(idOf(7)), labels: {} });
    clock.advance(5_000);
    await drain([interruptionOf(7)], tools, clock);
    expect(model.node("node-7")?.unschedulable).toBe(true);
  });

  it("case 33: a node of another controller is untouched", async () => {
    const { clock, model, facts, tools } = aWorld();
    model.addNode({ name: "karpenter", providerId: providerIdOf(idOf(8)), labels: { "karpenter.sh/nodepool": "x" } });
    await drain([interruptionOf(8)], tools, clock);
    expect(model.node("karpenter")?.unschedulable).toBe(false);
    expect(decisions(facts)).toEqual(["ignored"]);
  });

  it("two nodes with one instance: reported, neither is touched", async () => {
    const { clock, model, facts, tools } = aWorld();
    model.addNode({ name: "twin", providerId: providerIdOf(idOf(1)), labels: {} });
    await drain([interruptionOf(1)], tools, clock);
    expect(model.nodes().some((node) => node.unschedulable)).toBe(false);
    expect(decisions(facts)).toEqual(["ambiguous"]);
  });
});
