/** The contract of the ports `Cluster` and `FencingCluster`: one suite for the fakes and for the real API server. */
import { afterAll, beforeAll, describe } from "vitest";
import { eventsContract } from "./events-contract.ts";
import { evictionsContract } from "./evictions-contract.ts";
import { fencingContract } from "./fencing-contract.ts";
import { nodesContract } from "./nodes-contract.ts";
import { podsContract } from "./pods-contract.ts";
import type { World } from "./world.ts";

export function clusterContract(openWorld: () => Promise<World>): void {
  let opened: World | undefined;
  const world = () => {
    if (opened === undefined) throw new Error("using the world: not opened");
    return opened;
  };
  beforeAll(async () => {
    opened = await openWorld();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  describe("nodes", () => nodesContract(world));
  describe("pods", () => podsContract(world));
  describe("evictions", () => evictionsContract(world));
  describe("events", () => eventsContract(world));
  describe("fencing", () => fencingContract(world));
}
