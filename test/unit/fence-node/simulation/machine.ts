/**
 * A machine with a kernel: its power, its clocks, and a software watchdog that behaves as Linux's does. What runs on it
 * stops with it, dead or paused.
 */
import type { Opening, WatchdogDevice } from "../../../../node-agent/fencing/device.ts";
import type { Chance } from "./chance.ts";
import { Gate } from "./gate.ts";
import type { Timeline } from "./timeline.ts";

export interface MachineParts {
  readonly timeline: Timeline;
  readonly chance: Chance;
  /** Of its monotonic clock, by which its dog counts too: seconds of the machine in a true one. */
  readonly clockRate: number;
  readonly watchdogTimeoutSeconds: number;
  readonly nowayout: boolean;
  readonly onBoot: () => void;
  readonly onDeath: (cause: "dog" | "power") => void;
}

export class Machine {
  readonly #parts: MachineParts;
  isOn = false;
  bootId = "";
  /** Of the present boot. */
  gate: Gate;
  /** What its wall clock is off by. */
  wallOffsetMs = 0;
  deviceFails = 0;
  readonly #dog = { isRunning: false, isHeld: false, pingedAtMs: 0, isWatched: false };
  #boots = 0;
  #pauses = 0;
  /** Monotonic time of the present boot up to `#countedAtMs`. */
  #monotonicMs = 0;
  #countedAtMs = 0;

  constructor(parts: MachineParts) {
    this.#parts = parts;
    this.gate = new Gate(parts.chance);
  }

  get nowMs(): number {
    return this.#monotonicMs + this.#sinceCountedMs;
  }

  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  boot(): void {
    if (this.isOn) return;
    const { chance, timeline, onBoot } = this.#parts;
    this.#boots += 1;
    this.isOn = true;
    this.bootId = `boot-${this.#boots}`;
    this.gate = new Gate(chance);
    // Some time has passed since the kernel started.
    this.#monotonicMs = 5_000;
    this.#countedAtMs = timeline.nowMs;
    this.#pauses = 0;
    Object.assign(this.#dog, { isRunning: false, isHeld: false });
    onBoot();
  }

  die(cause: "dog" | "power"): void {
    if (!this.isOn) return;
    this.isOn = false;
    this.gate.end();
    this.#parts.onDeath(cause);
  }

  /** The whole guest: its processes, its monotonic clock and its dog. */
  pause(): void {
    if (!this.isOn) return;
    this.#monotonicMs = this.nowMs;
    this.#countedAtMs = this.#parts.timeline.nowMs;
    this.#pauses += 1;
    this.gate.stop();
  }

  resume(): void {
    if (!this.isOn || this.#pauses === 0) return;
    this.#countedAtMs = this.#parts.timeline.nowMs;
    this.#pauses -= 1;
    this.#watch();
    this.gate.go();
  }

  /** True milliseconds until the monotonic clock says so, unless the machine is paused. */
  untilMs(monotonicMs: number): number {
    return Math.max(0, monotonicMs - this.nowMs) / this.#parts.clockRate;
  }

  /** The write that keeps the dog quiet. */
  ping(): void {
    this.#dog.pingedAtMs = this.nowMs;
  }

  /** The kernel closes what a process held that is gone: without the magic, and so it pings once. */
  closeForTheDead(): void {
    if (!this.#dog.isHeld) return;
    this.#dog.isHeld = false;
    this.ping();
  }

  /** @param feed what becomes of a ping that the agent writes: a process may be stopped right before it. */
  device(feed: () => void): WatchdogDevice {
    const { nowayout, watchdogTimeoutSeconds: timeoutSeconds } = this.#parts;
    const dog = this.#dog;
    return {
      look: () => ({ kind: "present", running: dog.isRunning, timeoutSeconds, nowayout }),
      open: ({ acceptNowayout }): Opening => {
        if (this.deviceFails > 0) return { kind: "refused", problem: "busy", because: "EBUSY" };
        if (nowayout && !acceptNowayout) return { kind: "refused", problem: "nowayout", because: "nowayout" };
        dog.isHeld = true;
        // One that runs unattended is taken over, without a ping.
        if (!dog.isRunning) {
          dog.isRunning = true;
          this.ping();
          this.#watch();
        }
        return { kind: "opened", timeoutSeconds, nowayout };
      },
      feed: () => {
        if (this.deviceFails > 0) return "EIO";
        feed();
        return undefined;
      },
      disarm: () => {
        dog.isHeld = false;
        if (nowayout) this.ping();
        else dog.isRunning = false;
        return dog.isRunning;
      },
      abandon: () => this.closeForTheDead(),
    };
  }

  get #sinceCountedMs(): number {
    return this.isPaused ? 0 : (this.#parts.timeline.nowMs - this.#countedAtMs) * this.#parts.clockRate;
  }

  /** Looks at the dog when it would bark at the earliest, again and again while it runs. */
  #watch(): void {
    const dog = this.#dog;
    if (dog.isWatched) return;
    dog.isWatched = true;
    const { timeline, watchdogTimeoutSeconds } = this.#parts;
    const barksAtMs = dog.pingedAtMs + 1000 * watchdogTimeoutSeconds;
    const boots = this.#boots;
    timeline.after(this.untilMs(barksAtMs) + 1, () => {
      dog.isWatched = false;
      if (!this.isOn || !dog.isRunning || this.isPaused) return;
      if (boots === this.#boots && this.nowMs - dog.pingedAtMs >= 1000 * watchdogTimeoutSeconds) this.die("dog");
      else this.#watch();
    });
  }
}
