/**
 * The one table of what each Kubernetes user of nodekeeper needs. The ClusterRoles (rbac.ts) and what the relay lets
 * through (authorize.ts) are both made from it, so they can't drift apart.
 */
import { kubernetesUser } from "../shared/domain/identity.ts";

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
  readonly verbs: readonly Verb[];
}

export interface Role {
  /** Name of the ClusterRole. */
  readonly name: string;
  /** Kubernetes users that are bound to it. */
  readonly users: readonly string[];
  readonly permissions: readonly Permission[];
}

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
