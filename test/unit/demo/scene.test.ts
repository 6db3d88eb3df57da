import { describe, expect, test } from "vitest";
import { INSTANCE_ID_PATTERN } from "../../../shared/domain/instance-id.ts";
import { BUDGET, makeScene } from "../../demo/scene.ts";

describe("the scene of the demo", () => {
  const scene = makeScene({ nodes: 10, pods: 30, interrupt: 3 });

  test("has so many nodes, each with an instance of its own", () => {
    expect(new Set(scene.nodes.map(({ instanceId }) => instanceId)).size).toBe(10);
    expect(scene.nodes.every(({ instanceId }) => INSTANCE_ID_PATTERN.test(instanceId))).toBe(true);
  });

  test("spreads the ordinary pods evenly", () => {
    for (const { name } of scene.nodes) {
      expect(scene.pods.filter((pod) => pod.nodeName === name && pod.app === "web")).toHaveLength(3);
    }
  });

  test.each([1, 2, 3])("puts every special pod on a node that is interrupted, if there are %i", (interrupt) => {
    const { interrupted, pods } = makeScene({ nodes: 10, pods: 30, interrupt });
    const names = interrupted.map(({ name }) => name);
    const special = pods.filter(({ app }) => app !== "web");
    expect(special.map(({ app }) => app)).toEqual([BUDGET.app, "report", "dns"]);
    expect(special.every(({ nodeName }) => names.includes(nodeName))).toBe(true);
  });

  test("gives no two pods the same name", () => {
    const names = scene.pods.map(({ namespace, name }) => `${namespace}/${name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});
