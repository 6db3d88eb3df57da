/**
 * The one table of what each Kubernetes user of nodekeeper needs. The RBAC objects (rbac.ts) and what the relay lets
 * through (authorize.ts) are both made from it, so they can't drift apart.
 */
import { FENCING_LEASE_NAMESPACE } from "../shared/domain/fencing-lease.ts";
import { kubernetesUser } from "../shared/domain/identity.ts";
import { FENCING_CONFIG_MAP, KUBELET_LEASE_NAMESPACE } from "../shared/domain/keys.ts";

/** Request verbs as RBAC names them. One that isn't here (deletecollection, proxy, ...) can't be granted at all. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

export interface Permission {
  /** API group; "" is the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource?: string;
  /** A list or watch of a namespaced resource may also span all namespaces, as a ClusterRole allows. */
  readonly namespaced: boolean;
  /** Granted in this namespace only, by a Role there; what spans namespaces isn't. */
  readonly namespace?: string;
  /** Granted for the object of this name only. Lists and creations name no object, so they aren't. */
  readonly name?: string;
  readonly verbs: readonly Verb[];
}

export interface Role {
  /** Name of its ClusterRole, and of its Roles in single namespaces. */
  readonly name: string;
  /** Kubernetes users that are bound to it. */
  readonly users: readonly string[];
  readonly permissions: readonly Permission[];
}

const CONFIG_MAPS = { group: "", version: "v1", resource: "configmaps", namespaced: true } as const;
const LEASES = { group: "coordination.k8s.io", version: "v1", resource: "leases", namespaced: true } as const;
const VOLUME_ATTACHMENTS = {
  group: "storage.k8s.io",
  version: "v1",
  resource: "volumeattachments",
  namespaced: false,
} as const;

export const ROLES: readonly Role[] = [
  {
    name: "nodekeeper-drain-node",
    users: [kubernetesUser("drain-urgent")],
    permissions: [
      { group: "", version: "v1", resource: "nodes", namespaced: false, verbs: ["get", "list", "patch"] },
      { group: "", version: "v1", resource: "pods", namespaced: true, verbs: ["list", "delete"] },
      { group: "", version: "v1", resource: "pods", subresource: "eviction", namespaced: true, verbs: ["create"] },
      { group: "policy", version: "v1", resource: "poddisruptionbudgets", namespaced: true, verbs: ["list"] },
      { group: "", version: "v1", resource: "events", namespaced: true, verbs: ["create"] },
    ],
  },
  {
    name: "nodekeeper-fence-node",
    users: [kubernetesUser("fence-node")],
    permissions: [
      { group: "", version: "v1", resource: "nodes", namespaced: false, verbs: ["get", "list", "patch", "delete"] },
      { group: "", version: "v1", resource: "pods", namespaced: true, verbs: ["list", "delete"] },
      { ...VOLUME_ATTACHMENTS, verbs: ["list", "delete"] },
      { group: "", version: "v1", resource: "events", namespaced: true, verbs: ["create"] },
      // Reading only: what says that a node lives must never be written by who may end it.
      { ...LEASES, namespace: FENCING_LEASE_NAMESPACE, verbs: ["get", "list"] },
      { ...LEASES, namespace: KUBELET_LEASE_NAMESPACE, verbs: ["get", "list"] },
      // Its own observations. By name, since the relay's map of identities lies in the same namespace; a creation can't
      // be bound to a name, but neither can it change what is there.
      { ...CONFIG_MAPS, ...FENCING_CONFIG_MAP, verbs: ["get", "update"] },
      { ...CONFIG_MAPS, namespace: FENCING_CONFIG_MAP.namespace, verbs: ["create"] },
    ],
  },
];

/** Every user of a table, each once. */
export function usersOf(roles: readonly Role[]): readonly string[] {
  return [...new Set(roles.flatMap((role) => role.users))];
}

/** `pods` or `pods/eviction`, as RBAC and the metrics name it. */
export function resourceName(permission: Pick<Permission, "resource" | "subresource">): string {
  return permission.subresource === undefined
    ? permission.resource
    : `${permission.resource}/${permission.subresource}`;
}
