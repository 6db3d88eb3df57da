/** Begins and ends the troubles of a history. */
import { PAUSED_ANNOTATION } from "../../../../shared/domain/keys.ts";
import type { History, Trouble, TroubleKind } from "./histories.ts";
import type { SimNode } from "./sim-node.ts";
import type { World } from "./world.ts";

/** After the last trouble has begun: longer than T_safe, and than what it takes to stop an instance. */
const AFTERMATH_SECONDS = 310;
const CALM_SECONDS = 45;
/** What lasts longer than that doesn't end. */
const FOR_GOOD_SECONDS = 300;

export function endOf({ troubles }: History): number {
  return 1000 * (Math.max(0, ...troubles.map(({ atSeconds }) => atSeconds)) + AFTERMATH_SECONDS);
}

/** When all troubles have ended, and what they left on its way has arrived. */
export function calmAfter({ troubles }: History): number {
  return 1000 * (Math.max(0, ...troubles.map(({ atSeconds, forSeconds }) => atSeconds + forSeconds)) + CALM_SECONDS);
}

type Switch = (by: 1 | -1) => void;

export function plan({ troubles }: History, world: World): void {
  for (const trouble of troubles) {
    const node = world.nodes[trouble.node % world.nodes.length];
    if (node === undefined) continue;
    const turn = switchOf(trouble, node, world);
    const { kind, atSeconds, forSeconds } = trouble;
    world.timeline.at(1000 * atSeconds, () => {
      world.judge.say(`${node.name}: ${kind}, for ${forSeconds} s`);
      turn(1);
    });
    world.timeline.at(1000 * (atSeconds + forSeconds), () => {
      world.judge.say(`${node.name}: end of "${kind}"`);
      turn(-1);
    });
  }
}

/** What turns the trouble on and off again; troubles of one kind add up. */
function switchOf({ kind, forSeconds }: Trouble, node: SimNode, world: World): Switch {
  const { link, machine, kubelet, agent, instance } = node;
  const { api, runLink, scheduler, cloud, state } = world;
  const adds = <Key extends string>(counts: Record<Key, number>, key: Key): Switch => {
    return (by) => {
      counts[key] += by;
    };
  };
  const once =
    (deed: () => void): Switch =>
    (by) =>
      by === 1 && deed();
  const between =
    (begin: () => void, end: () => void): Switch =>
    (by) =>
      by === 1 ? begin() : end();
  const cut =
    (troubles: typeof link): Switch =>
    (by) => {
      troubles.requestsVanish += by;
      troubles.answersVanish += by;
    };
  const switches: Readonly<Record<TroubleKind, Switch>> = {
    "cut off": cut(link),
    "cut off, connections refused": adds(link, "refuses"),
    "requests vanish": adds(link, "requestsVanish"),
    "answers vanish": adds(link, "answersVanish"),
    "slow network": adds(link, "isSlow"),
    "agent forbidden": adds(agent, "isForbidden"),
    "agent stopped": between(
      () => agent.stall(),
      () => agent.wake(),
    ),
    "agent stopped before it feeds": between(
      () => agent.stallFeeds(),
      () => agent.releaseFeeds(),
    ),
    "agent crashes": once(() => agent.crash()),
    "agent replaced": once(() => agent.replace()),
    "kubelet dead": between(
      () => kubelet.die(),
      () => kubelet.revive(),
    ),
    paused: between(
      () => machine.pause(),
      () => machine.resume(),
    ),
    "device fails": adds(machine, "deviceFails"),
    maintenance: between(
      () => maintain(world, node, true),
      () => maintain(world, node, false),
    ),
    rebooted: once(() => {
      machine.die("power");
      world.timeline.after(
        world.chance.between(15_000, 60_000),
        () => node.instance?.state === "running" && machine.boot(),
      );
    }),
    "power lost": between(
      () => machine.die("power"),
      () => forSeconds < FOR_GOOD_SECONDS && node.instance?.state === "running" && machine.boot(),
    ),
    "instance stopped": between(
      () => instance?.end("stop"),
      () => forSeconds < FOR_GOOD_SECONDS && node.instance?.start(),
    ),
    "instance terminated": once(() => node.instance?.end("terminate")),
    "instance not listed": (by) => {
      if (instance) instance.forgotten += by;
    },
    "wall clock steps": once(() => {
      machine.wallOffsetMs += world.chance.between(-300_000, 300_000);
    }),
    "made anew under its name": once(() => node.remake()),
    "api away": adds(api, "isAway"),
    "api fails": adds(api, "fails"),
    "api takes no writes": adds(api, "writesFail"),
    "node controller away": adds(world, "controllerAway"),
    "runs missed": adds(scheduler, "missed"),
    "run twice": once(() => scheduler.run()),
    "runs killed": once(() => scheduler.kill()),
    "runs stopped": between(
      () => scheduler.stop(),
      () => scheduler.go(),
    ),
    "runs cut off": cut(runLink),
    "runs on a slow network": adds(runLink, "isSlow"),
    "ec2 away": adds(cloud, "isAway"),
  };
  return switches[kind];

  function maintain({ judge }: World, { name }: SimNode, isOn: boolean): void {
    const annotations = { ...state.nodes.get(name)?.annotations };
    if (isOn) annotations[PAUSED_ANNOTATION] = "yes";
    else delete annotations[PAUSED_ANNOTATION];
    state.changeNode(name, { annotations });
    judge.say(`${name}: maintenance ${isOn ? "begins" : "ends"}`);
  }
}
