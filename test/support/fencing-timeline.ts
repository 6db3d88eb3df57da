/** What happens to the nodes of the cast: all but one fall silent at once, and then each meets its own fate. */
import { setTimeout as sleep } from "node:timers/promises";
import { killKubelet } from "../rig/seed.ts";
import { waitUntil } from "../rig/wait.ts";
import { ROLE_NAMES, type RoleName } from "./fencing-cast.ts";
import type { FencingStage } from "./fencing-stage.ts";
import { hasTrace } from "./fencing-traces.ts";
import type { FencingWitness } from "./fencing-witness.ts";

/** Nodes of the cast that end up dead for certain, whose Nodes go. */
export const FENCED: readonly RoleName[] = [
  "stopped-by-others",
  "reset-by-dog",
  "ended-by-stop",
  "ended-spot",
  "ended-of-group",
];

/** Three looks, a confirmation, T_safe and the minute between two runs, twice over. */
export const FATE = { withinMilliseconds: 300_000, everyMilliseconds: 500 };
/** Past T_safe and several looks later: what hasn't come by then doesn't come. */
const END_MILLISECONDS = 155_000;

export interface Timeline {
  /** When the instance of `stopped-by-others` was stopped. */
  readonly stoppedAt: Date;
}

export async function letFatesHappen(stage: FencingStage, witness: FencingWitness): Promise<Timeline> {
  const begun = performance.now();
  const after = (ms: number) => sleep(Math.max(0, begun + ms - performance.now()));
  const until = (what: string, holds: () => boolean | Promise<boolean>) => waitUntil(what, holds, FATE);
  const cordoned = (name: RoleName) => until(`${name} is cordoned`, () => witness.recordOn(name) !== undefined);

  /** Only after fence-node has asked EC2 in vain. */
  async function stopOnceHeld(name: RoleName): Promise<Date> {
    await until(`${name} is held`, async () => (await witness.eventsOn(name)).includes("FencingHeld"));
    const at = new Date();
    await stage.stopInstance(name);
    return at;
  }

  await Promise.all(ROLE_NAMES.filter((name) => name !== "without-kubelet").map((name) => stage.cutOff(name)));
  await killKubelet(stage.cluster, "without-kubelet");
  const [stoppedAt] = await Promise.all([
    stopOnceHeld("stopped-by-others"),
    after(59_000).then(() => stage.reconnect("away-for-59-s")),
    after(75_000).then(() => stage.reconnect("away-for-75-s")),
    cordoned("away-for-longer").then(async () => {
      await stage.reconnect("away-for-longer");
      await until("the node that returned is free again", () => !hasTrace(witness.lastOf("away-for-longer")));
    }),
    cordoned("static").then(() => stage.stopInstance("static")),
    cordoned("made-anew").then(async () => {
      await stage.makeAnew("made-anew");
      await stage.stopInstance("made-anew");
    }),
    ...FENCED.map((name) => until(`${name} is gone`, () => witness.lastOf(name).type === "DELETED")),
    until("the static node is fenced", () => witness.recordOn("static")?.phase === "fenced"),
    after(END_MILLISECONDS),
  ]);
  return { stoppedAt };
}
