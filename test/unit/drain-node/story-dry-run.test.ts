/** A dry run says everything and changes nothing. */
import { describe, expect, it } from "vitest";
import { aPolicy } from "../../builders/a-policy.ts";
import { aWorld, decisions, drain, interruptionOf } from "./world.ts";

describe("dry run", () => {
  it("case 25: nothing is changed, the decision is said, and the message is done", async () => {
    const { clock, model, cluster, facts, tools } = aWorld({ policy: aPolicy({ default: { dryRun: true } }) });
    const before = [model.nodes(), model.pods()];
    const { ended } = await drain([interruptionOf(1)], tools, clock);
    expect([model.nodes(), model.pods()]).toEqual(before);
    expect(model.events()).toEqual([]);
    expect([...cluster.counts.keys()].toSorted()).toEqual(["list nodes", "list pods"]);
    expect(decisions(facts)).toEqual(["dry-run"]);
    expect(ended).toMatchObject([{ kind: "done", because: expect.stringContaining("2 pods to evict") }]);
  });
});
