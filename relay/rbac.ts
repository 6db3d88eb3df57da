/**
 * RBAC objects made from the table of permissions: one ClusterRole per role, a Role for each namespace that it is bound
 * to, their bindings, and the relay's own right.
 */
import { RELAY_NAMESPACE } from "../shared/domain/keys.ts";
import { type Permission, type Role, resourceName, usersOf } from "./permissions.ts";

const RELAY_NAME = "nodekeeper-relay";
const API_VERSION = "rbac.authorization.k8s.io/v1";
const API_GROUP = "rbac.authorization.k8s.io";

/** Kubernetes objects, ready to be written as YAML. */
export function rbacObjects(roles: readonly Role[]): readonly object[] {
  return [...roles.flatMap(objectsOf), ...impersonation(usersOf(roles))];
}

function objectsOf({ name, users, permissions }: Role): readonly object[] {
  const subjects = users.map((user) => ({ kind: "User", apiGroup: API_GROUP, name: user }));
  const byNamespace = Map.groupBy(permissions, (permission) => permission.namespace);
  return [...byNamespace].flatMap(([namespace, granted]) => [
    roleObject({ name, namespace }, granted.map(ruleOf)),
    binding({ name, namespace }, subjects),
  ]);
}

function ruleOf(permission: Permission): object {
  const resourceNames = permission.name === undefined ? undefined : [permission.name];
  return {
    apiGroups: [permission.group],
    resources: [resourceName(permission)],
    ...(resourceNames && { resourceNames }),
    verbs: [...permission.verbs],
  };
}

/** All that the relay itself may do: speak as exactly these users. No groups, no extra fields, nobody else. */
function impersonation(users: readonly string[]): readonly object[] {
  const everywhere = { name: RELAY_NAME, namespace: undefined };
  const rules = [{ apiGroups: [""], resources: ["users"], resourceNames: [...users], verbs: ["impersonate"] }];
  const subjects = [{ kind: "ServiceAccount", name: RELAY_NAME, namespace: RELAY_NAMESPACE }];
  return [roleObject(everywhere, rules), binding(everywhere, subjects)];
}

/** A role and its binding have one name. Without a namespace they count in the whole cluster. */
interface Scope {
  readonly name: string;
  readonly namespace: string | undefined;
}

function roleObject(scope: Scope, rules: readonly object[]): object {
  return { apiVersion: API_VERSION, kind: kindFor(scope), metadata: metadataOf(scope), rules };
}

function binding(scope: Scope, subjects: readonly object[]): object {
  const kind = `${kindFor(scope)}Binding`;
  const roleRef = { apiGroup: API_GROUP, kind: kindFor(scope), name: scope.name };
  return { apiVersion: API_VERSION, kind, metadata: metadataOf(scope), roleRef, subjects };
}

function kindFor({ namespace }: Scope): "Role" | "ClusterRole" {
  return namespace === undefined ? "ClusterRole" : "Role";
}

function metadataOf({ name, namespace }: Scope): object {
  return namespace === undefined ? { name } : { name, namespace };
}
