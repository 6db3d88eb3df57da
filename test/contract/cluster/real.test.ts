/** The contract of the port `Cluster` on a real API server: what the fakes are held against. */
import { describeReal } from "../../rig/real-parts.ts";
import { clusterContract } from "./cluster-contract.ts";
import { openRealWorld } from "./real-world.ts";

describeReal("a real API server", ["control plane"], () => {
  clusterContract(openRealWorld);
});
