/** The port `Instances` in memory: what EC2 would list, and a switch to make it refuse. */
import { type Instance, type Instances, InstancesUnavailable } from "../../shared/ports/instances.ts";

export class FakeInstances implements Instances {
  readonly #instances = new Map<string, Instance>();
  #refusal: string | undefined;
  /** Ids of each question so far. */
  readonly questions: (readonly string[])[] = [];

  put(instance: Partial<Instance> & { id: string }): void {
    this.#instances.set(instance.id, { state: "running", tags: {}, ...instance });
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
}
