/**
 * Fencing from end to end, on one timeline: many nodes fall silent at the same time, each for another reason, and each
 * gets what is right for it. Then the API server is away for everybody, and then a tenth of the nodes doesn't return.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROLES, resourceName } from "../../relay/permissions.ts";
import { kubernetesUser } from "../../shared/domain/identity.ts";
import { FENCING_CONFIG_MAP, FENCING_ENABLED_LABEL } from "../../shared/domain/keys.ts";
import { FENCING_METRICS } from "../../shared/domain/metrics.ts";
import { describeReal } from "../rig/real-parts.ts";
import { waitUntil } from "../rig/wait.ts";
import { type Happening, revisionOf } from "../support/chronicle.ts";
import { ROLE_NAMES, roleOf, SAFE_SECONDS } from "../support/fencing-cast.ts";
import { bystander, type FencingStage, podOf, raiseFencingStage, SPARE } from "../support/fencing-stage.ts";
import { FATE, FENCED, letFatesHappen, type Timeline } from "../support/fencing-timeline.ts";
import {
  endedPods,
  hasTrace,
  isTainted,
  nameOf,
  nodeStates,
  OUT_OF_SERVICE,
  tracedNodes,
} from "../support/fencing-traces.ts";
import { type FencingWitness, recordIn, required, witnessOf } from "../support/fencing-witness.ts";
import { countedRequests } from "../support/relay-metrics.ts";

/** The schedule fires a minute after it was made. */
const FIRST_RUN = { withinMilliseconds: 120_000, everyMilliseconds: 250 };
const STAGE_MILLISECONDS = 600_000;
/** Longer than it takes to suspect a node, and short enough that counting goes on after it. */
const OUTAGE_MILLISECONDS = 80_000;
const NOT_RETURNING = 20;

describeReal("fencing, as it is deployed,", ["control plane", "emulator", "moto"], () => {
  let stage: FencingStage;
  let seen: FencingWitness;
  let timeline: Timeline;

  beforeAll(async () => {
    stage = await raiseFencingStage();
    seen = witnessOf(stage);
    await waitUntil("fence-node has looked once", () => hasLooked(stage), FIRST_RUN);
    timeline = await letFatesHappen(stage, seen);
  }, STAGE_MILLISECONDS);
  afterAll(() => stage?.stop());

  const statesOf = (nodeName: string) => nodeStates(seen.told(), nodeName);
  const proofOf = (nodeName: string) => recordIn(required(statesOf(nodeName).at(-1)))?.proof?.kind;
  const firstOf = (states: readonly Happening[], holds: (one: Happening) => boolean) => required(states.find(holds));
  const expectUntouched = (nodeName: string) => {
    expect(statesOf(nodeName).filter(hasTrace)).toEqual([]);
    expect(seen.podEnds(podOf(nodeName))).toEqual([]);
  };

  it("a node that EC2 says is stopped loses its pods, then its attachments, then goes: in this order, after its cordon", () => {
    const states = statesOf("stopped-by-others");
    const order = {
      cordon: firstOf(states, (one) => recordIn(one) !== undefined),
      proof: firstOf(states, (one) => recordIn(one)?.proof !== undefined),
      pod: required(seen.podEnds("db-0").at(0)),
      outOfService: firstOf(states, (one) => isTainted(one, OUT_OF_SERVICE)),
      attachment: firstOf(
        seen.told(),
        (one) => one.type === "DELETED" && nameOf(one) === "attached-to-stopped-by-others",
      ),
      node: firstOf(states, ({ type }) => type === "DELETED"),
    };
    const inOrder = Object.entries(order).toSorted(([, a], [, b]) => revisionOf(a) - revisionOf(b));
    expect(inOrder.map(([step]) => step)).toEqual(Object.keys(order));
    expect(order.cordon.at.getTime()).toBeLessThan(timeline.stoppedAt.getTime());
    expect(order.proof.at.getTime()).toBeGreaterThan(timeline.stoppedAt.getTime());
  });

  it("its StatefulSet's pod runs on another node then, and not before", () => {
    const ended = required(seen.podEnds("db-0").at(-1));
    const again = required(
      seen
        .told()
        .find((one) => one.object.kind === "Pod" && nameOf(one) === "db-0" && one.object.spec.nodeName === SPARE),
    );
    expect(revisionOf(again)).toBeGreaterThan(revisionOf(ended));
    expect(uidOf(again)).not.toBe(uidOf(ended));
  });

  it("a node whose armed dog must have barked loses its pods after T_safe, and not before", async () => {
    const ended = required(seen.podEnds(podOf("reset-by-dog")).at(0));
    const silentMs = ended.at.getTime() - stage.agents.lastRenewalOf("reset-by-dog").getTime();
    expect(silentMs).toBeGreaterThanOrEqual(SAFE_SECONDS * 1_000);
    expect(await stage.instanceState("reset-by-dog")).toBe("running");
    const events = await seen.eventsOn("reset-by-dog");
    expect(events.toSorted()).toEqual(["FencingHeld", "NodeFenced", "NodeSilent"]);
    expect(proofOf("reset-by-dog")).toBe("watchdog");
  });

  it("a node that EC2 calls running keeps its pods and its volume for ever where nothing else is proof", async () => {
    expect(seen.podEnds(podOf("never-proven"))).toEqual([]);
    expect(
      seen
        .told()
        .filter((one) => one.type === "DELETED")
        .map(nameOf),
    ).not.toContain("attached-to-never-proven");
    expect(seen.lastOf("never-proven").object.spec.unschedulable).toBe(true);
    expect(statesOf("never-proven").filter((one) => isTainted(one, OUT_OF_SERVICE))).toEqual([]);
  });

  it.each([
    ["ended-by-stop", "stopped"],
    ["ended-spot", "terminated"],
    ["ended-of-group", "terminated"],
  ] as const)("by policy a running instance is ended for proof: %s is %s", async (name, state) => {
    expect(await stage.instanceState(name)).toBe(state);
    expect(await seen.eventsOn(name)).toEqual(expect.arrayContaining(["NodeSilent", "InstanceEnded", "NodeFenced"]));
    const stop = firstOf(statesOf(name), (one) => recordIn(one)?.stop !== undefined);
    expect(revisionOf(required(seen.podEnds(podOf(name)).at(0)))).toBeGreaterThan(revisionOf(stop));
    expect(proofOf(name)).toBe("ec2");
  });

  it.each(["away-for-59-s", "away-for-75-s"] as const)("a partition leaves no trace: %s", async (name) => {
    expectUntouched(name);
    expect(await seen.eventsOn(name)).toEqual([]);
  });

  it("a partition that ends before there is proof leaves a cordon that is lifted", async () => {
    expect(seen.podEnds(podOf("away-for-longer"))).toEqual([]);
    expect(hasTrace(seen.lastOf("away-for-longer"))).toBe(false);
    expect(await seen.eventsOn("away-for-longer")).toEqual(expect.arrayContaining(["NodeSilent", "NodeHeardAgain"]));
  });

  it("a node whose kubelet is silent while its agent isn't is reported, and not fenced", async () => {
    expectUntouched("without-kubelet");
    expect(await seen.eventsOn("without-kubelet")).toEqual(["KubeletSilent"]);
    expect(Math.max(...(await seen.values(FENCING_METRICS.reachable)))).toBe(1);
  });

  it("a node made anew under the same name in the middle of it is left alone, and so are its pods", () => {
    const states = statesOf("made-anew");
    const second = states.filter((one) => uidOf(one) !== uidOf(required(states.at(0))));
    expect(second).not.toEqual([]);
    expect(second.at(-1)?.type).not.toBe("DELETED");
    expect(second.filter(hasTrace)).toEqual([]);
    expect([...seen.podEnds(podOf("made-anew")), ...seen.podEnds(`${podOf("made-anew")}-new`)]).toEqual([]);
  });

  it("a dry run changes nothing", async () => {
    expectUntouched("rehearsed");
    expect(await seen.eventsOn("rehearsed")).toEqual([]);
    expect(await stage.instanceState("rehearsed")).toBe("running");
  });

  it("a node that somebody works on is left alone, and it is said", async () => {
    expectUntouched("maintained");
    expect(await seen.eventsOn("maintained")).toEqual(["FencingHeld"]);
  });

  it("a node in mode notify gets a cordon and an Event, whatever the policy would allow for others", async () => {
    expect(seen.recordOn("only-notified")).toMatchObject({ phase: "cordoned" });
    expect(seen.podEnds(podOf("only-notified"))).toEqual([]);
    expect(await stage.instanceState("only-notified")).toBe("running");
    expect(await seen.eventsOn("only-notified")).toEqual(expect.arrayContaining(["NodeSilent", "FencingHeld"]));
  });

  it("the Node of a static machine stays when its pods are let go", () => {
    expect(seen.podEnds(podOf("static"))).not.toEqual([]);
    expect(seen.lastOf("static").type).not.toBe("DELETED");
    expect(seen.recordOn("static")).toMatchObject({ phase: "fenced", proof: { kind: "ec2" } });
  });

  it("Nodes show whose dog is armed", () => {
    const shown = ROLE_NAMES.filter((name) => isArmedShown(statesOf(name)));
    expect(shown).toEqual(ROLE_NAMES.filter((name) => roleOf(name).mode === "watchdog"));
  });

  it("no other node has a trace, and no pod went but those of the dead", () => {
    const untouched: readonly string[] = [
      "away-for-59-s",
      "away-for-75-s",
      "without-kubelet",
      "rehearsed",
      "maintained",
    ];
    expect(tracedNodes(seen.told())).toEqual(ROLE_NAMES.filter((name) => !untouched.includes(name)).toSorted());
    const ended = new Set(endedPods(seen.told()).map(nameOf));
    expect([...ended].toSorted()).toEqual(["db-0", ...[...FENCED, "static"].map(podOf)].toSorted());
  });

  it("it used all of its rights and was refused nothing", async () => {
    const all = await countedRequests(stage.installation.relay.opsUrl);
    const own = all.filter(({ user }) => user === kubernetesUser("fence-node"));
    expect(own.filter(({ code }) => ["401", "403"].includes(code))).toEqual([]);
    const granted = ROLES.filter(({ users }) => users.includes(kubernetesUser("fence-node"))).flatMap((role) =>
      role.permissions.flatMap((one) => one.verbs.map((verb) => `${verb} ${resourceName(one)}`)),
    );
    const called = new Set(own.map(({ verb, resource }) => `${verb} ${resource}`));
    expect([...called].toSorted()).toEqual([...new Set(granted)].toSorted());
  });

  describe("when the API server is away for everybody, and then a tenth of the nodes doesn't return,", () => {
    let before: readonly Happening[];
    const since = () => seen.told().slice(before.length);

    beforeAll(async () => {
      before = seen.told();
      const lost = Array.from({ length: NOT_RETURNING }, (_, n) => bystander(n + 1));
      await Promise.all(lost.map((name) => stage.cutOff(name)));
      stage.cluster.freeze();
      try {
        await sleep(OUTAGE_MILLISECONDS);
      } finally {
        stage.cluster.thaw();
      }
      await waitUntil("so many silent nodes are noted", async () => (await brakes()).length > 2, FATE);
    }, STAGE_MILLISECONDS);

    const brakes = async () => (await seen.brakes()).filter((because) => because.includes("silent at once"));

    it("the looks that failed are counted", async () => {
      expect((await seen.values(FENCING_METRICS.passesFailed)).length).toBeGreaterThan(0);
    });

    it("nothing happened to anyone: neither to those who returned, nor to so many at once", () => {
      const earlier = tracedNodes(before);
      expect(tracedNodes(since()).filter((name) => !earlier.includes(name))).toEqual([]);
      expect(endedPods(since()).map(nameOf)).toEqual([]);
    });

    it("the brake is told, with how many are silent, and counted", async () => {
      const [silent = 0, all = 0] =
        /(\d+) of (\d+)/
          .exec((await brakes()).at(-1) ?? "")
          ?.slice(1)
          .map(Number) ?? [];
      expect(silent).toBeGreaterThanOrEqual(NOT_RETURNING);
      expect(all).toBeGreaterThan(silent);
      expect((await seen.values(FENCING_METRICS.heldByBrake)).length).toBeGreaterThan(0);
    });
  });

  // Only now: what a run says is in the log when it has ended.
  describe("in its log", () => {
    it("each node that was fenced is told, with the proof", async () => {
      const lines = await Promise.all([...FENCED, "static"].map((name) => seen.fencedLine(name)));
      expect(lines.map((line) => line?.proof)).toEqual(["ec2", "watchdog", "ec2", "ec2", "ec2", "ec2"]);
    });

    it.each([
      ["never-proven", "hold-no-proof", "EC2 says running; no time rule: the policy asks for proof from EC2"],
      ["only-notified", "hold-no-proof", "a node in mode notify is cordoned and told, no more"],
      ["maintained", "hold-maintenance", "nodekeeper.dev/paused"],
      ["made-anew", "cordon", "the policy never stops an instance"],
    ])("of %s it says %s, and why", async (name, decision, because) => {
      const said = { decision, isDryRun: false, because: expect.stringContaining(because) };
      expect(await seen.decided(name)).toContainEqual(expect.objectContaining(said));
    });

    it("a dry run says what it would do, and which proof it has or lacks", async () => {
      const said = { decision: "cordon", isDryRun: true, because: expect.stringContaining("EC2 says running") };
      expect(await seen.decided("rehearsed")).toContainEqual(expect.objectContaining(said));
    });

    it("no step failed", async () => {
      expect((await stage.log.logLines()).filter(({ message }) => message === "step failed")).toEqual([]);
    });
  });
});

/** Its log would come only when that run has ended. */
async function hasLooked({ cluster }: FencingStage): Promise<boolean> {
  const { namespace, name } = FENCING_CONFIG_MAP;
  const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`;
  return (await cluster.api.call({ method: "GET", path })).status === 200;
}

function isArmedShown(states: readonly Happening[]): boolean {
  return states.some(({ object }) => object.metadata.labels[FENCING_ENABLED_LABEL] !== undefined);
}

function uidOf({ object }: Happening): string {
  return object.metadata.uid;
}
