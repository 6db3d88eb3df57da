/** The contract's world on the cluster model: for the in-memory cluster and for the embedded API server. */
import type { Cluster } from "../../../shared/ports/cluster.ts";
import type { FencingCluster } from "../../../shared/ports/fencing-cluster.ts";
import type { ClusterModel } from "../../fakes/kube-api/cluster-model.ts";
import type { World } from "./world.ts";

/** Longer than any test: pods end by their grace alone. */
export const NEVER_STOPS_MS = 3_600_000;

interface Opening {
  readonly open: () => Cluster;
  readonly openFencing: () => FencingCluster;
  readonly close: () => Promise<void>;
}

export function modelWorld(model: ClusterModel, { open, openFencing, close }: Opening): World {
  return {
    cluster: open(),
    fencing: openFencing(),
    otherProcess: open,
    async addNode(given) {
      model.addNode(given);
    },
    removeNode: async (name) => model.removeNode(name),
    async touchNode(name) {
      const node = model.node(name);
      if (node) model.changeNode(node, { annotations: { "example.com/touched": String(Date.now()) } });
    },
    addPod: async (given) => model.addPod(given),
    async removePod({ namespace, name }) {
      model.deletePod(namespace, name, { graceSeconds: 0 });
    },
    addBudget: async (budget) => model.addBudget(budget),
    // The model makes a namespace with what is put there.
    async ensureNamespace() {},
    async putLease(lease) {
      model.leases.put(lease);
    },
    async putVolumeAttachment(attachment) {
      model.attachments.put({ ...attachment, namespace: "" });
    },
    terminateNamespace: async (name) => model.terminateNamespace(name),
    async listEvents(namespace) {
      const events = model.events().filter((event) => event.namespace === namespace);
      return events.map(({ name, type, reason, note, regarding }) => ({
        name,
        type,
        reason,
        note,
        uid: regarding.uid,
      }));
    },
    [Symbol.asyncDispose]: close,
  };
}
