/**
 * A kubelet: renews its Lease, writes the Node's status, and after a boot starts the pods, once it has heard of them from
 * the API server. Its own Lease is renewed before a container runs: it is asked for first, over the same connection.
 */
import type { Chance } from "./chance.ts";
import type { ClusterState } from "./cluster-state.ts";
import { Gate } from "./gate.ts";
import type { Link } from "./link.ts";
import type { Machine } from "./machine.ts";
import type { Timeline } from "./timeline.ts";

export interface KubeletParts {
  readonly name: string;
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly machine: Machine;
  readonly link: Link;
  readonly state: ClusterState;
  readonly wallClock: () => Date;
  /** Makes the Node where there is none. */
  readonly register: () => void;
  /** Either Lease was written. */
  readonly onRenewal: () => void;
  /** The containers of the pods start. */
  readonly onPodsStart: () => void;
}

const RENEW_EVERY_MS = 10_000;
const REQUEST_MS = 10_000;

export class Kubelet {
  readonly #parts: KubeletParts;
  gate: Gate;
  #deaths = 0;
  #hasPods = false;
  #isAsking = false;

  constructor(parts: KubeletParts) {
    this.#parts = parts;
    this.gate = new Gate(parts.chance);
  }

  boot(): void {
    const { chance, machine } = this.#parts;
    this.gate = new Gate(chance, machine.gate);
    for (let deaths = 0; deaths < this.#deaths; deaths++) this.gate.stop();
    this.#hasPods = false;
    this.#isAsking = false;
    this.#renew(true);
  }

  die(): void {
    this.#deaths += 1;
    this.gate.stop();
  }

  revive(): void {
    this.#deaths -= 1;
    this.gate.go();
  }

  #renew(isFirst: boolean): void {
    const { timeline, link, state, name, wallClock, onRenewal, register } = this.#parts;
    const gate = this.gate;
    gate.run(() => {
      link.send({
        ...{ isWrite: true, timeoutMs: REQUEST_MS, gate },
        handle: () => {
          if (isFirst) register();
          state.writeKubeletLease(name, wallClock());
          onRenewal();
        },
        deliver: (outcome) => {
          if (outcome.kind !== "answered") return;
          this.#writeStatus(gate);
          this.#askForPods(gate);
        },
      });
      const pause = this.#hasPods ? RENEW_EVERY_MS : RENEW_EVERY_MS / 2;
      timeline.after(pause, () => this.gate === gate && this.#renew(isFirst && !this.#hasPods));
    });
  }

  /** A request of its own, which may fail while the other doesn't. */
  #writeStatus(gate: Gate): void {
    const { link, state, name, machine } = this.#parts;
    const { bootId } = machine;
    const node = state.nodes.get(name);
    if (node?.ready === "True" && node.bootId === bootId) return;
    link.send({
      ...{ isWrite: true, timeoutMs: REQUEST_MS, gate },
      handle: () => state.changeNode(name, { ready: "True", bootId }),
      deliver: () => {},
    });
  }

  #askForPods(gate: Gate): void {
    const { link, chance, timeline, onPodsStart } = this.#parts;
    if (this.#hasPods || this.#isAsking) return;
    this.#isAsking = true;
    link.send({
      ...{ isWrite: false, timeoutMs: REQUEST_MS, gate },
      handle: () => undefined,
      deliver: (outcome) => {
        this.#isAsking = false;
        if (outcome.kind !== "answered" || this.#hasPods) return;
        this.#hasPods = true;
        timeline.after(chance.between(1_000, 5_000), () => gate.run(onPodsStart));
      },
    });
  }
}
