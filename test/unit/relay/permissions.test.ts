/** The one table and what is made from it; the files that are handed out must be what it says today. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { RBAC_FILE, renderRbac } from "../../../relay/generate-manifests.ts";
import { ROLES, resourceName, usersOf } from "../../../relay/permissions.ts";

test("the checked-in RBAC manifest is what the table gives; else run: node relay/generate-manifests.ts", () => {
  expect(readFileSync(RBAC_FILE, "utf8")).toBe(renderRbac());
});

test("drain-urgent needs exactly this", () => {
  const needed = ROLES.filter((role) => role.users.includes("nodekeeper:drain-urgent"))
    .flatMap((role) => role.permissions)
    .map(
      (permission) =>
        `${permission.group}/${permission.version} ${resourceName(permission)}: ${permission.verbs.join(" ")}`,
    );
  expect(needed).toEqual([
    "/v1 nodes: get list patch",
    "/v1 pods: list delete",
    "/v1 pods/eviction: create",
    "policy/v1 poddisruptionbudgets: list",
    "/v1 events: create",
  ]);
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
