/** Whether a dog is to be held right now, and how: a list of reasons against it, the first of which counts. */
import type { DeviceProblem, Dog } from "./device.ts";
import type { Wanted } from "./wanted.ts";
import type { ProtocolSettings, State } from "./words.ts";

export type Aim =
  | { readonly kind: "arm"; readonly mode: "watchdog" | "local"; readonly acceptNowayout: boolean }
  | { readonly kind: "rest"; readonly because: string; readonly problem?: DeviceProblem };

/** So many crashes within the window of crashes.ts are a loop: the kubelet's back-off then outlasts the dog. */
export const CRASH_BUDGET = 2;

const rest = (because: string, problem?: DeviceProblem): Aim => ({
  kind: "rest",
  because,
  ...(problem === undefined ? {} : { problem }),
});

export function aimOf(state: State, nowMs: number, settings: ProtocolSettings): Aim {
  const { node, crashes, sight, dog } = state;
  if (state.leaving !== undefined) return rest("the agent is ending");
  if (node === undefined) return rest("the Node was not read yet");
  if (node.maintenance !== undefined) return rest(`the Node has the annotation ${node.maintenance}`);
  const { mode, acceptNowayout } = node.wanted;
  if (mode === "notify") return rest("notify is what is asked for");
  if (crashes.kind === "uncounted") return rest("crashes were not counted yet");
  if (crashes.kind === "unknown") return rest(`nobody knows how often the agent crashed: ${crashes.because}`);
  if (crashes.crashes >= CRASH_BUDGET && nowMs < crashes.calmAtMs)
    return rest(`the agent crashed ${crashes.crashes} times within the last minutes`);

  if (dog.kind === "held" && dog.doubt !== undefined) return rest(dog.doubt, "failed");
  if (sight === undefined) return rest("the device was not looked at yet");
  const seen = dog.kind === "held" ? dog : sight;
  if (seen.kind === "absent") return rest(seen.because, seen.problem);
  return faultOf(seen, node.wanted, settings) ?? { kind: "arm", mode, acceptNowayout };
}

/** What is wrong with a dog of these qualities. */
function faultOf(dog: Dog, { mode, acceptNowayout }: Wanted, settings: ProtocolSettings): Aim | undefined {
  if (dog.nowayout && !acceptNowayout)
    return rest("the dog can't be stopped once it runs (nowayout), and that is not accepted", "nowayout");
  const seconds = neededSeconds(mode, settings);
  if (dog.timeoutSeconds >= seconds.sum) return undefined;
  return rest(`W = ${dog.timeoutSeconds} s is too short: ${seconds.arithmetic}`, "timeout too short");
}

/** Twice the longest pause between two feeds when all goes well: one lost renewal must not reset a node. */
function neededSeconds(mode: Wanted["mode"], { feedWithinMs, renewEveryMs }: ProtocolSettings) {
  const [g, interval] = [feedWithinMs / 1000, renewEveryMs / 1000];
  const sum = mode === "watchdog" ? 2 * (g + interval) : 2 * interval;
  const terms = mode === "watchdog" ? `2 x (G ${g} s + interval ${interval} s)` : `2 x interval ${interval} s`;
  return { sum, arithmetic: `at least ${terms} = ${sum} s is needed` };
}
