/** The contract of the port `Cluster` on a real API server: what the fakes are held against. */
import { describe } from "vitest";
import { searchProgram } from "../../rig/parts.ts";
import { clusterContract } from "./cluster-contract.ts";
import { openRealWorld } from "./real-world.ts";

const missing = (["etcd", "kube-apiserver", "kube-controller-manager"] as const).filter(
  (name) => searchProgram(name).kind === "missing",
);

describe.skipIf(missing.length > 0)(`a real API server${missing.length > 0 ? ` (missing: ${missing})` : ""}`, () => {
  clusterContract(openRealWorld);
});
