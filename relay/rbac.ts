/** RBAC objects made from the table of permissions: one ClusterRole per role, its binding, and the relay's own right. */
import { RELAY_NAMESPACE } from "../shared/domain/keys.ts";
import { type Permission, type Role, resourceName, usersOf } from "./permissions.ts";

const RELAY_NAME = "nodekeeper-relay";
const API_VERSION = "rbac.authorization.k8s.io/v1";
const API_GROUP = "rbac.authorization.k8s.io";

/** Kubernetes objects, ready to be written as YAML. */
export function rbacObjects(roles: readonly Role[]): readonly object[] {
  return [...roles.flatMap((role) => [clusterRole(role), roleBinding(role)]), ...impersonation(usersOf(roles))];
}

function clusterRole(role: Role): object {
  const metadata = { name: role.name };
  return { apiVersion: API_VERSION, kind: "ClusterRole", metadata, rules: role.permissions.map(ruleOf) };
}

function ruleOf(permission: Permission): object {
  return { apiGroups: [permission.group], resources: [resourceName(permission)], verbs: [...permission.verbs] };
}

function roleBinding(role: Role): object {
  const subjects = role.users.map((name) => ({ kind: "User", apiGroup: API_GROUP, name }));
  return binding(role.name, role.name, subjects);
}

/** All that the relay itself may do: speak as exactly these users. No groups, no extra fields, nobody else. */
function impersonation(users: readonly string[]): readonly object[] {
  const rules = [{ apiGroups: [""], resources: ["users"], resourceNames: [...users], verbs: ["impersonate"] }];
  return [
    { apiVersion: API_VERSION, kind: "ClusterRole", metadata: { name: RELAY_NAME }, rules },
    binding(RELAY_NAME, RELAY_NAME, [{ kind: "ServiceAccount", name: RELAY_NAME, namespace: RELAY_NAMESPACE }]),
  ];
}

function binding(name: string, role: string, subjects: readonly object[]): object {
  const roleRef = { apiGroup: API_GROUP, kind: "ClusterRole", name: role };
  return { apiVersion: API_VERSION, kind: "ClusterRoleBinding", metadata: { name }, roleRef, subjects };
}
