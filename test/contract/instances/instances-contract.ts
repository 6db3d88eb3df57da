/** The contract of the port `Instances`: one suite for the fake and for something that speaks EC2's language. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Instances, InstancesUnavailable } from "../../../shared/ports/instances.ts";

export interface InstancesWorld extends AsyncDisposable {
  readonly instances: Instances;
  /** The same port where EC2 is out of reach. */
  readonly unreachable: Instances;
  /** Gives the id of a running instance. */
  launch(tags: Readonly<Record<string, string>>): Promise<string>;
  stop(id: string): Promise<void>;
  terminate(id: string): Promise<void>;
}

/** More than one question takes. */
const MANY_IDS = 450;

export function instancesContract(openWorld: () => Promise<InstancesWorld>): void {
  let opened: InstancesWorld | undefined;
  const world = () => {
    if (opened === undefined) throw new Error("using the world: not opened");
    return opened;
  };
  beforeAll(async () => {
    opened = await openWorld();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  test("an instance shows its state and its tags", async () => {
    const tags = { "kubernetes.io/cluster/demo": "owned", Name: "worker" };
    const id = await world().launch(tags);
    expect(await world().instances.listInstances([id])).toEqual([{ id, state: "running", tags }]);
  });

  test("an instance that EC2 doesn't list is missing, and no error", async () => {
    const id = await world().launch({});
    const found = await world().instances.listInstances(["i-0aaaaaaaaaaaaaaaa", id]);
    expect(found.map((one) => one.id)).toEqual([id]);
  });

  test("stopped and terminated instances are listed as such", async () => {
    const [stopped, terminated] = [await world().launch({}), await world().launch({})];
    await world().stop(stopped);
    await world().terminate(terminated);
    const found = await world().instances.listInstances([stopped, terminated]);
    const states = new Map(found.map(({ id, state }) => [id, state]));
    expect(states.get(stopped)).toBe("stopped");
    expect(states.get(terminated)).toBe("terminated");
  });

  test("more ids than one question takes are all looked for", async () => {
    const [first, last] = [await world().launch({}), await world().launch({})];
    const unknown = Array.from({ length: MANY_IDS }, (_, n) => `i-${n.toString(16).padStart(17, "f")}`);
    const found = await world().instances.listInstances([first, ...unknown, last]);
    expect(found.map(({ id }) => id).toSorted()).toEqual([first, last].toSorted());
  });

  test("no ids find nothing", async () => {
    await world().launch({});
    expect(await world().instances.listInstances([])).toEqual([]);
  });

  test("out of reach is an error, and never an empty answer", async () => {
    const id = await world().launch({});
    await expect(world().unreachable.listInstances([id])).rejects.toThrow(InstancesUnavailable);
  });
}
