/** EC2: instances that are stopped, started and terminated, each of which takes its time, and answers that may be old. */
import { type Instance, InstancesUnavailable, SCALING_GROUP_TAG } from "../../../../shared/ports/instances.ts";
import type { Chance } from "./chance.ts";
import type { Machine } from "./machine.ts";
import type { Timeline } from "./timeline.ts";

export interface SimInstanceParts {
  readonly id: string;
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly machine: Machine;
  readonly isSpot: boolean;
  readonly isOfGroup: boolean;
}

type State = Instance["state"];

export class SimInstance {
  readonly #parts: SimInstanceParts;
  readonly #states: { readonly state: State; readonly sinceMs: number }[] = [{ state: "running", sinceMs: 0 }];
  /** Not listed: another account is asked, or EC2 has forgotten it. */
  forgotten = 0;

  constructor(parts: SimInstanceParts) {
    this.#parts = parts;
  }

  get id(): string {
    return this.#parts.id;
  }

  get state(): State {
    return this.#states.at(-1)?.state ?? "running";
  }

  /** Without waiting for its operating system; a stopped one may still be terminated. */
  end(how: "stop" | "terminate"): void {
    const { timeline, chance, machine } = this.#parts;
    const isDown = this.state === "stopped" || this.state === "stopping";
    if (["shutting-down", "terminated"].includes(this.state) || (isDown && how === "stop")) return;
    this.#become(how === "stop" ? "stopping" : "shutting-down");
    timeline.after(chance.between(1_000, 60_000), () => {
      machine.die("power");
      timeline.after(chance.between(0, 10_000), () => {
        const isStillMeant = this.state === (how === "stop" ? "stopping" : "shutting-down");
        if (isStillMeant) this.#become(how === "stop" ? "stopped" : "terminated");
      });
    });
  }

  /** By somebody else. */
  start(): void {
    const { timeline, chance, machine } = this.#parts;
    if (this.state !== "stopped") return;
    this.#become("pending");
    timeline.after(chance.between(1_000, 10_000), () => {
      if (this.state === "pending") this.#become("running");
    });
    timeline.after(chance.between(15_000, 60_000), () => {
      if (this.state === "running") machine.boot();
    });
  }

  /** A moment old, as answers of EC2 may be. */
  describe(): Instance | undefined {
    const { timeline, chance, id, isSpot, isOfGroup } = this.#parts;
    if (this.forgotten > 0) return undefined;
    const atMs = timeline.nowMs - (chance.happens(0.3) ? chance.between(0, 3_000) : 0);
    const state = this.#states.findLast(({ sinceMs }) => sinceMs <= atMs)?.state ?? "running";
    return { id, state, isSpot, tags: isOfGroup ? { [SCALING_GROUP_TAG]: "workers" } : {} };
  }

  #become(state: State): void {
    this.#states.push({ state, sinceMs: this.#parts.timeline.nowMs });
  }
}

export function throttled(): InstancesUnavailable {
  return new InstancesUnavailable("RequestLimitExceeded");
}
