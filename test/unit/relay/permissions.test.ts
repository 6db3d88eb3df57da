/** The one table and what is made from it; the files that are handed out must be what it says today. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { RBAC_FILE, renderRbac } from "../../../relay/generate-manifests.ts";
import { ROLES, resourceName, usersOf } from "../../../relay/permissions.ts";
import { rbacObjects } from "../../../relay/rbac.ts";

test("the checked-in RBAC manifest is what the table gives; else run: node relay/generate-manifests.ts", () => {
  expect(readFileSync(RBAC_FILE, "utf8")).toBe(renderRbac());
});

function neededBy(user: string): readonly string[] {
  return ROLES.filter((role) => role.users.includes(user))
    .flatMap((role) => role.permissions)
    .map((permission) => {
      const { group, version, namespace, name, verbs } = permission;
      const where = [namespace, name].filter((one) => one !== undefined).join("/");
      return `${group}/${version} ${resourceName(permission)}${where && ` (${where})`}: ${verbs.join(" ")}`;
    });
}

test("drain-urgent needs exactly this", () => {
  expect(neededBy("nodekeeper:drain-urgent")).toEqual([
    "/v1 nodes: get list patch",
    "/v1 pods: list delete",
    "/v1 pods/eviction: create",
    "policy/v1 poddisruptionbudgets: list",
    "/v1 events: create",
  ]);
});

test("fence-node needs exactly this, of Leases and ConfigMaps only in their own namespaces", () => {
  expect(neededBy("nodekeeper:fence-node")).toEqual([
    "/v1 nodes: get list patch delete",
    "/v1 pods: list delete",
    "storage.k8s.io/v1 volumeattachments: list delete",
    "/v1 events: create",
    "coordination.k8s.io/v1 leases (nodekeeper): get list",
    "coordination.k8s.io/v1 leases (kube-node-lease): get list",
    "/v1 configmaps (nodekeeper/fencing): get update",
    "/v1 configmaps (nodekeeper): create",
  ]);
});

test("what is granted in one namespace becomes a Role there, bound to the same users, never a ClusterRole", () => {
  const role = {
    name: "reader",
    users: ["somebody"],
    permissions: [
      { group: "", version: "v1", resource: "nodes", namespaced: false, verbs: ["get"] },
      { group: "", version: "v1", resource: "secrets", namespaced: true, namespace: "one", name: "a", verbs: ["get"] },
    ],
  } as const;
  const scope = (kind: string, metadata: object) => ({ kind, metadata: { name: "reader", ...metadata } });
  const here = { namespace: "one" };
  expect(rbacObjects([role]).slice(0, 4)).toMatchObject([
    { ...scope("ClusterRole", {}), rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }] },
    { ...scope("ClusterRoleBinding", {}), roleRef: { kind: "ClusterRole", name: "reader" } },
    {
      ...scope("Role", here),
      rules: [{ apiGroups: [""], resources: ["secrets"], resourceNames: ["a"], verbs: ["get"] }],
    },
    {
      ...scope("RoleBinding", here),
      roleRef: { kind: "Role", name: "reader" },
      subjects: [{ kind: "User", name: "somebody" }],
    },
  ]);
});

test("nothing that a list or a creation needs is bound to an object's name, which they don't have", () => {
  const bound = ROLES.flatMap((role) => role.permissions).filter((permission) => permission.name !== undefined);
  expect(bound.flatMap((permission) => permission.verbs)).toEqual(["get", "update"]);
});

test("the relay's service account may impersonate exactly the users of the table, and nothing else", () => {
  const objects = parseAllDocuments(renderRbac()).map((document) => document.toJS());
  const relay = objects.find(({ kind, metadata }) => kind === "ClusterRole" && metadata.name === "nodekeeper-relay");
  expect(relay.rules).toEqual([
    { apiGroups: [""], resources: ["users"], resourceNames: usersOf(ROLES), verbs: ["impersonate"] },
  ]);
  const bindings = objects.filter(({ kind }) => kind === "ClusterRoleBinding");
  const accounts = bindings.flatMap(({ roleRef, subjects }) =>
    subjects.filter(({ kind }: { kind: string }) => kind === "ServiceAccount").map(() => roleRef.name),
  );
  expect(accounts).toEqual(["nodekeeper-relay"]);
});
