/** The contract of the port `Instances`: one suite for the fake and for something that speaks EC2's language. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { InstancesUnavailable, type StoppableInstances } from "../../../shared/ports/instances.ts";

export interface InstancesWorld extends AsyncDisposable {
  readonly instances: StoppableInstances;
  /** The same port where EC2 is out of reach. */
  readonly unreachable: StoppableInstances;
  /** Gives the id of a running instance. */
  launch(tags: Readonly<Record<string, string>>, options?: { isSpot: boolean }): Promise<string>;
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
    expect(await world().instances.listInstances([id])).toEqual([{ id, state: "running", tags, isSpot: false }]);
  });

  test("an instance of the spot market shows it", async () => {
    const id = await world().launch({}, { isSpot: true });
    expect(await world().instances.listInstances([id])).toMatchObject([{ id, isSpot: true }]);
  });

  test.each([
    ["stop", "stopped"],
    ["terminate", "terminated"],
  ] as const)("an instance that is asked to %s is %s in the end, also when asked twice", async (how, state) => {
    const [id, other] = [await world().launch({}), await world().launch({})];
    await world().instances.endInstance(id, how);
    await world().instances.endInstance(id, how);
    const states = async () => (await world().instances.listInstances([id])).map((one) => one.state);
    await expect.poll(states, { timeout: 10_000 }).toEqual([state]);
    expect(await world().instances.listInstances([other])).toMatchObject([{ state: "running" }]);
  });

  test.each(["stop", "terminate"] as const)("an instance that isn't there can't be asked to %s", async (how) => {
    const asking = world().instances.endInstance("i-0aaaaaaaaaaaaaaaa", how);
    await expect(asking).rejects.toThrow(InstancesUnavailable);
  });

  test("nobody is asked to end where the cloud is out of reach", async () => {
    const id = await world().launch({});
    await expect(world().unreachable.endInstance(id, "stop")).rejects.toThrow(InstancesUnavailable);
    expect(await world().instances.listInstances([id])).toMatchObject([{ state: "running" }]);
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
