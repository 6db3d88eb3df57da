/** What the port `FencingCluster` asks about Leases, as requests to the Kubernetes API. */
import type { CoordinationV1Api, V1Lease } from "@kubernetes/client-node/dist/gen/index.js";
import type { Lease } from "../domain/lease.ts";
import type { FencingCluster } from "../ports/fencing-cluster.ts";
import { asClusterError, asking, codeOf } from "./kube-answers.ts";
import { required } from "./kube-objects.ts";
import { listPages } from "./kube-pages.ts";

export function leaseRequests(coordination: CoordinationV1Api): Pick<FencingCluster, "listLeases" | "findLease"> {
  return {
    listLeases: (namespace) =>
      asking(`listing leases in ${namespace}`, async () => {
        return await listPages((page) => coordination.listNamespacedLease({ namespace, ...page }), toLease);
      }),

    async findLease(namespace, name) {
      try {
        return toLease(await coordination.readNamespacedLease({ namespace, name }));
      } catch (error) {
        if (codeOf(error) === 404) return undefined;
        throw asClusterError(error, `reading lease ${namespace}/${name}`);
      }
    },
  };
}

function toLease({ metadata, spec }: V1Lease): Lease {
  return {
    name: required(metadata?.name, "Lease", "name"),
    resourceVersion: required(metadata?.resourceVersion, "Lease", "resourceVersion"),
    // The client's own kind of date would write itself as JSON in another form.
    renewTime: spec?.renewTime && new Date(spec.renewTime),
    annotations: metadata?.annotations ?? {},
  };
}
