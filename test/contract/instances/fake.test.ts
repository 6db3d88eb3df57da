/** The contract of the port `Instances` on the fake. */
import { describe } from "vitest";
import { FakeInstances } from "../../fakes/fake-instances.ts";
import { instancesContract } from "./instances-contract.ts";

describe("the fake of instances", () => {
  instancesContract(async () => {
    const instances = new FakeInstances();
    const unreachable = new FakeInstances();
    unreachable.refuse("out of reach");
    let count = 0;
    return {
      instances,
      unreachable,
      async launch(tags, { isSpot } = { isSpot: false }) {
        const id = `i-${(++count).toString(16).padStart(17, "0")}`;
        instances.put({ id, tags, isSpot });
        return id;
      },
      stop: async (id) => instances.put({ id, state: "stopped" }),
      terminate: async (id) => instances.put({ id, state: "terminated" }),
      async [Symbol.asyncDispose]() {},
    };
  });
});
