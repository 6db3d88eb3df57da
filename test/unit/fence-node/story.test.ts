/** The story of a node that falls silent, told on a cluster in memory. */
import { describe, expect, it } from "vitest";
import { FENCING_RECORD_ANNOTATION } from "../../../shared/domain/fencing-record.ts";
import { aPolicy } from "../../builders/a-policy.ts";
import { attachmentsOf, aWorld, decisionsOn, idOf, NO_TRACE, podsOn, reasons, runFor, traceOf } from "./world.ts";

describe("a node whose instance ends by itself", () => {
  it("is suspected, cordoned, and its pods, volumes and Node go when EC2 says stopped", async () => {
    const world = aWorld();
    await runFor(world, 60);
    world.lives.silence("node-1");
    await runFor(world, 180);
    expect(traceOf(world.model, "node-1").unschedulable).toBe(true);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    expect(attachmentsOf(world.model, "node-1")).toHaveLength(1);
    world.instances.put({ id: idOf(1), state: "stopped" });
    await runFor(world, 60);
    expect(world.model.node("node-1")).toBeUndefined();
    expect(podsOn(world.model, "node-1")).toEqual([]);
    expect(attachmentsOf(world.model, "node-1")).toEqual([]);
    expect(decisionsOn(world.facts, "node-1")).toEqual(["hold-silent", "cordon", "hold-no-proof", "fence"]);
    expect(reasons(world.model)).toEqual(expect.arrayContaining(["NodeSilent", "FencingHeld", "NodeFenced"]));
    expect(world.facts).toContainEqual({ kind: "fenced", nodeName: "node-1", proof: "ec2", pods: 3 });
    for (const n of [2, 3, 4, 5]) expect(podsOn(world.model, `node-${n}`)).toHaveLength(3);
  });

  it("is cordoned and fenced in one pass where the proof is there already", async () => {
    const world = aWorld();
    world.lives.silence("node-1");
    world.instances.put({ id: idOf(1), state: "terminated" });
    await runFor(world, 180);
    expect(world.model.node("node-1")).toBeUndefined();
    expect(decisionsOn(world.facts, "node-1")).toEqual(["hold-silent", "cordon", "fence"]);
  });

  it("is put out of service before its volumes are let go, and neither before its pods", async () => {
    const world = aWorld();
    world.lives.silence("node-1");
    world.instances.put({ id: idOf(1), state: "terminated" });
    const seen: string[] = [];
    const look = () => {
      const isOut = world.model.node("node-1")?.taints.some(({ key }) => key === "node.kubernetes.io/out-of-service");
      return `${podsOn(world.model, "node-1").length} pods, out of service: ${isOut}`;
    };
    const { cluster } = world;
    await runFor(world, 180, {
      cluster: {
        ...cluster,
        async deleteVolumeAttachment(one) {
          seen.push(look());
          return cluster.deleteVolumeAttachment(one);
        },
      },
    });
    expect(seen).toEqual(["0 pods, out of service: true"]);
  });
});

describe("a node whose instance goes on", () => {
  it.each([
    ["stopped by force", {}, "stop"],
    ["terminated, if it is of the spot market", { isSpot: true }, "terminate"],
    ["terminated, if it is of a group", { tags: { "aws:autoscaling:groupName": "workers" } }, "terminate"],
  ] as const)("is %s once nothing was heard for long enough", async (_, instance, how) => {
    const world = aWorld();
    world.instances.put({ id: idOf(1), ...instance });
    await runFor(world, 60);
    world.lives.silence("node-1");
    await runFor(world, 180);
    expect(world.instances.ended).toEqual([]);
    await runFor(world, 60);
    expect(world.instances.ended).toEqual([{ id: idOf(1), how }]);
    expect(world.model.node("node-1")).toBeUndefined();
  });

  it("is asked to end only once, and keeps its pods while EC2 doesn't say that it has", async () => {
    const world = aWorld({ endsAtOnce: false });
    world.lives.silence("node-1");
    await runFor(world, 1200);
    expect(world.instances.ended).toEqual([{ id: idOf(1), how: "stop" }]);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    expect(attachmentsOf(world.model, "node-1")).toHaveLength(1);
  });

  it("is never stopped where the policy says so, and keeps its pods for ever", async () => {
    const world = aWorld({ fencing: { stop: "never" } });
    world.lives.silence("node-1");
    await runFor(world, 1200);
    expect(world.instances.ended).toEqual([]);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    expect(traceOf(world.model, "node-1").unschedulable).toBe(true);
  });

  it("keeps its pods while EC2 can't be asked, however long that takes", async () => {
    const world = aWorld();
    world.lives.silence("node-1");
    world.instances.put({ id: idOf(1), state: "terminated" });
    world.instances.refuse("UnauthorizedOperation");
    await runFor(world, 1200);
    expect(world.facts).toContainEqual(
      expect.objectContaining({
        decision: "hold-no-proof",
        because: expect.stringContaining("EC2 couldn't be asked: describing instances: UnauthorizedOperation"),
      }),
    );
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    world.instances.refuse(undefined);
    await runFor(world, 60);
    expect(world.model.node("node-1")).toBeUndefined();
  });

  it("keeps its pods where EC2 doesn't list it", async () => {
    const world = aWorld({ node: { providerId: "aws:///eu-central-1a/i-0aaaaaaaaaaaaaaaa" } });
    world.lives.silence("node-1");
    await runFor(world, 1200);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
  });
});

describe("a node that is only cut off", () => {
  it.each([59, 75])("leaves no trace after %d s", async (seconds) => {
    const world = aWorld();
    await runFor(world, 60);
    for (const offset of [0, 7, 13, 22, 31, 44]) {
      world.clock.advance(offset * 1000);
      world.lives.silence("node-1");
      const silentUntil = world.clock.now().getTime() + seconds * 1000;
      const renew = world.clock.onTick;
      world.clock.onTick = () => {
        if (world.clock.now().getTime() >= silentUntil) world.lives.comeBack("node-1");
        renew();
      };
      await runFor(world, 300);
      world.clock.onTick = renew;
    }
    expect(decisionsOn(world.facts, "node-1")).not.toContain("cordon");
    expect(traceOf(world.model, "node-1")).toEqual(NO_TRACE);
  });

  it.each([["local"], ["notify"]] as const)(
    "for 150 s in mode %s, is cordoned, and free again afterwards",
    async (mode) => {
      const world = aWorld({ says: { mode } });
      await runFor(world, 60);
      world.lives.silence("node-1");
      await runFor(world, 120);
      expect(traceOf(world.model, "node-1").unschedulable).toBe(true);
      world.clock.advance(30_000);
      world.lives.comeBack("node-1");
      await runFor(world, 60);
      expect(traceOf(world.model, "node-1")).toEqual(NO_TRACE);
      expect(reasons(world.model)).toContain("NodeHeardAgain");
      expect(podsOn(world.model, "node-1")).toHaveLength(3);
      expect(world.instances.ended).toEqual([]);
    },
  );

  it("keeps a cordon that somebody else had put there", async () => {
    const world = aWorld({ node: { unschedulable: true } });
    world.lives.silence("node-1");
    await runFor(world, 180);
    expect(world.model.node("node-1")?.annotations[FENCING_RECORD_ANNOTATION]).toBeDefined();
    world.lives.comeBack("node-1");
    await runFor(world, 60);
    expect(traceOf(world.model, "node-1")).toEqual({ ...NO_TRACE, unschedulable: true });
  });
});

describe("nodes that get less", () => {
  it("in mode notify are cordoned and told of, and never stopped", async () => {
    const world = aWorld({ says: { mode: "notify" } });
    world.lives.silence("node-1");
    await runFor(world, 1200);
    expect(world.instances.ended).toEqual([]);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    expect(decisionsOn(world.facts, "node-1")).toEqual(["hold-silent", "cordon", "hold-no-proof"]);
    world.instances.put({ id: idOf(1), state: "terminated" });
    await runFor(world, 60);
    expect(world.model.node("node-1")).toBeUndefined();
  });

  it("without an agent are as those in mode notify", async () => {
    const world = aWorld({ says: undefined });
    world.lives.silence("node-1");
    await runFor(world, 1200);
    expect(world.instances.ended).toEqual([]);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    world.instances.put({ id: idOf(1), state: "stopped" });
    await runFor(world, 60);
    expect(world.model.node("node-1")).toBeUndefined();
  });

  it.each(["Static", "CloudStatic"])(
    "of type %s keep their Node, out of service, and what belongs to it",
    async (type) => {
      const world = aWorld({ node: { labels: { "node.deckhouse.io/type": type } } });
      world.lives.silence("node-1");
      await runFor(world, 600);
      expect(world.instances.ended).toEqual([]);
      world.instances.put({ id: idOf(1), state: "stopped" });
      await runFor(world, 180);
      expect(podsOn(world.model, "node-1")).toEqual(["logs-1"]);
      expect(attachmentsOf(world.model, "node-1")).toEqual([]);
      expect(traceOf(world.model, "node-1").taints).toContainEqual(
        expect.objectContaining({ key: "node.kubernetes.io/out-of-service" }),
      );
      expect(world.facts.filter(({ kind }) => kind === "fenced")).toHaveLength(1);
      world.lives.comeBack("node-1");
      await runFor(world, 60);
      expect(traceOf(world.model, "node-1")).toEqual(NO_TRACE);
    },
  );

  it("that somebody works on are left alone, and it is said", async () => {
    const world = aWorld({ node: { annotations: { "nodekeeper.dev/paused": "" } } });
    world.lives.silence("node-1");
    world.instances.put({ id: idOf(1), state: "terminated" });
    await runFor(world, 600);
    expect(traceOf(world.model, "node-1").unschedulable).toBe(false);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    expect(decisionsOn(world.facts, "node-1")).toEqual(["hold-silent", "hold-maintenance"]);
  });

  it("without fencing in their policy are nobody's business", async () => {
    const world = aWorld({ fencing: { enabled: false } });
    world.lives.silence("node-1");
    world.instances.put({ id: idOf(1), state: "terminated" });
    await runFor(world, 600);
    expect(world.facts.filter(({ kind }) => kind === "decided")).toEqual([]);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
  });

  it("whose kubelet alone is silent are told of, and not fenced", async () => {
    const world = aWorld();
    world.lives.silence("node-1", ["kubelet"]);
    world.instances.put({ id: idOf(1), state: "terminated" });
    await runFor(world, 600);
    expect(decisionsOn(world.facts, "node-1")).toEqual(["report"]);
    expect(reasons(world.model)).toEqual(["KubeletSilent"]);
    expect(traceOf(world.model, "node-1").unschedulable).toBe(false);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    expect(world.facts).toContainEqual(expect.objectContaining({ kind: "observed", reachable: 1, suspected: 0 }));
  });

  it("whose agent alone is silent are nobody's business", async () => {
    const world = aWorld();
    world.lives.silence("node-1", ["agent"]);
    await runFor(world, 600);
    expect(world.facts.filter(({ kind }) => kind === "decided")).toEqual([]);
  });
});

describe("the time rule", () => {
  const armed = { mode: "watchdog", armed: true, watchdogTimeoutSeconds: 60 } as const;
  const fencing = { proof: "watchdog", stop: "never" } as const;

  it("lets pods go when the dog must have barked, and not before", async () => {
    const world = aWorld({ says: armed, fencing });
    await runFor(world, 60);
    world.lives.silence("node-1");
    const silentAt = world.clock.now().getTime();
    let goneAt = 0;
    const renew = world.clock.onTick;
    world.clock.onTick = () => {
      renew();
      if (goneAt === 0 && podsOn(world.model, "node-1").length < 3) goneAt = world.clock.now().getTime();
    };
    await runFor(world, 300);
    expect(world.model.node("node-1")).toBeUndefined();
    expect((goneAt - silentAt) / 1000).toBeGreaterThanOrEqual(182);
    expect((goneAt - silentAt) / 1000).toBeLessThanOrEqual(225);
    expect(world.facts).toContainEqual({ kind: "fenced", nodeName: "node-1", proof: "watchdog", pods: 3 });
  });

  it.each([
    ["the policy asks for EC2's proof", { says: armed, fencing: { stop: "never" } }],
    ["the dog isn't armed", { says: { ...armed, armed: false }, fencing }],
    ["the dog is fed without renewals", { says: { ...armed, mode: "local" }, fencing }],
    ["the dog's timeout isn't known", { says: { mode: "watchdog", armed: true }, fencing }],
    ["the agent's Lease is of another boot", { says: { ...armed, bootId: "earlier" }, fencing }],
    ["the node is static", { says: armed, fencing, node: { labels: { "node.deckhouse.io/type": "Static" } } }],
  ] as const)("never counts where %s", async (_, given) => {
    const world = aWorld(given);
    world.lives.silence("node-1");
    await runFor(world, 900);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
  });

  it("never counts where the kubelet went on after the agent had ended", async () => {
    const world = aWorld({ says: armed, fencing });
    await runFor(world, 60);
    world.lives.silence("node-1", ["agent"]);
    await runFor(world, 60);
    world.lives.silence("node-1");
    await runFor(world, 900);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
  });

  it("waits longer where the node's dog is slower", async () => {
    const world = aWorld({ says: { ...armed, watchdogTimeoutSeconds: 120 }, fencing });
    world.lives.silence("node-1");
    await runFor(world, 360);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    await runFor(world, 120);
    expect(world.model.node("node-1")).toBeUndefined();
  });
});

describe("dry run", () => {
  it("says what would be done and by what proof, and changes nothing but the observations", async () => {
    const world = aWorld({ policy: aPolicy({ default: { dryRun: true, fencing: { enabled: true } } }) });
    await runFor(world, 60);
    world.lives.silence("node-1");
    await runFor(world, 240);
    const before = [world.model.pods(), world.model.attachments.list()];
    world.instances.put({ id: idOf(1), state: "terminated" });
    await runFor(world, 60);
    expect([world.model.pods(), world.model.attachments.list()]).toEqual(before);
    expect(traceOf(world.model, "node-1")).toEqual(NO_TRACE);
    expect(world.model.events()).toEqual([]);
    expect(world.instances.ended).toEqual([]);
    const said = world.facts.flatMap((fact) => (fact.kind === "decided" && fact.isDryRun ? [fact] : []));
    expect(said.at(-1)).toMatchObject({ decision: "cordon", because: expect.stringContaining("EC2 says terminated") });
    expect(said.some(({ because }) => because.includes("EC2 says running"))).toBe(true);
    expect([...world.cluster.counts.keys()].filter((key) => !/^(list|get) /.test(key)).toSorted()).toEqual([
      "create configmaps",
      "update configmaps",
    ]);
  });
});
