/** The ports of instances in memory: what EC2 would list, and a switch to make it refuse. */
import { type Instance, InstancesUnavailable, type StoppableInstances } from "../../shared/ports/instances.ts";

export class FakeInstances implements StoppableInstances {
  readonly #instances = new Map<string, Instance>();
  #refusal: string | undefined;
  /** Ids of each question so far. */
  readonly questions: (readonly string[])[] = [];
  /** What was asked to end, in its order. */
  readonly ended: { readonly id: string; readonly how: "stop" | "terminate" }[] = [];
  /** Whether an instance that is asked to end does; else it stays on its way for ever. */
  readonly #endsAtOnce: boolean;

  constructor({ endsAtOnce = true }: { endsAtOnce?: boolean } = {}) {
    this.#endsAtOnce = endsAtOnce;
  }

  put(instance: Partial<Instance> & { id: string }): void {
    this.#instances.set(instance.id, { state: "running", tags: {}, isSpot: false, ...instance });
  }

  /** From now on every question fails with this reason; undefined lets them through again. */
  refuse(reason: string | undefined): void {
    this.#refusal = reason;
  }

  async listInstances(ids: readonly string[]): Promise<readonly Instance[]> {
    if (ids.length === 0) return [];
    this.questions.push(ids);
    if (this.#refusal !== undefined) throw new InstancesUnavailable(`describing instances: ${this.#refusal}`);
    return [...new Set(ids)].flatMap((id) => this.#instances.get(id) ?? []);
  }

  async endInstance(id: string, how: "stop" | "terminate"): Promise<void> {
    const instance = this.#instances.get(id);
    if (this.#refusal !== undefined) throw new InstancesUnavailable(`asking to ${how} ${id}: ${this.#refusal}`);
    if (instance === undefined) throw new InstancesUnavailable(`asking to ${how} ${id}: InvalidInstanceID.NotFound`);
    this.ended.push({ id, how });
    const [under, over] =
      how === "stop" ? (["stopping", "stopped"] as const) : (["shutting-down", "terminated"] as const);
    this.put({ ...instance, state: this.#endsAtOnce ? over : under });
  }
}
