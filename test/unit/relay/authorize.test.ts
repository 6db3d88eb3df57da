/** What gets through to the API server: what the table grants, written as the API server would write it, no more. */
import { describe, expect, test } from "vitest";
import { authorize } from "../../../relay/authorize.ts";
import { ROLES, type Role } from "../../../relay/permissions.ts";

const USER = "nodekeeper:drain-urgent";
/** A user that may also watch, update, and read an API group with dots: nobody of the real table does. */
const OBSERVER: Role = {
  name: "observer",
  users: ["observer"],
  permissions: [
    { group: "", version: "v1", resource: "nodes", namespaced: false, verbs: ["list", "watch"] },
    { group: "", version: "v1", resource: "pods", namespaced: true, verbs: ["watch"] },
    { group: "", version: "v1", resource: "pods", subresource: "status", namespaced: true, verbs: ["get", "update"] },
    { group: "coordination.k8s.io", version: "v1", resource: "leases", namespaced: true, verbs: ["get", "create"] },
    { group: "", version: "v1", resource: "namespaces", namespaced: false, verbs: ["get"] },
  ],
};
const TABLE = [...ROLES, OBSERVER];

function answerTo(asked: string, user = USER, upgrade = false): string {
  const at = asked.indexOf(" ");
  const may = authorize(TABLE, user, { method: asked.slice(0, at), target: asked.slice(at + 1), upgrade });
  return may.kind === "allowed" ? `${may.verb} ${may.resource}` : may.reason;
}

describe("drain-urgent may", () => {
  test.each([
    ["GET /api/v1/nodes", "list nodes"],
    ["GET /api/v1/nodes?labelSelector=a%20in%20%28b%2Cc%29&limit=500", "list nodes"],
    ["GET /api/v1/nodes?resourceVersion=0", "list nodes"],
    ["GET /api/v1/nodes?watch=false", "list nodes"],
    ["GET /api/v1/nodes?labelSelector=a&?watch=true", "list nodes"],
    ["GET /api/v1/nodes/ip-10-0-0-1.eu-west-1.compute.internal", "get nodes"],
    ["PATCH /api/v1/nodes/a?fieldManager=nodekeeper", "patch nodes"],
    ["GET /api/v1/pods?fieldSelector=spec.nodeName%3Da&limit=100", "list pods"],
    ["GET /api/v1/namespaces/default/pods?labelSelector=app%3Da", "list pods"],
    ["DELETE /api/v1/namespaces/default/pods/a-0", "delete pods"],
    ["POST /api/v1/namespaces/default/pods/a-0/eviction", "create pods/eviction"],
    ["GET /apis/policy/v1/namespaces/default/poddisruptionbudgets", "list poddisruptionbudgets"],
    ["GET /apis/policy/v1/poddisruptionbudgets", "list poddisruptionbudgets"],
    ["POST /api/v1/namespaces/default/events", "create events"],
  ])("%s", (asked, allowed) => {
    expect(answerTo(asked)).toBe(allowed);
  });
});

describe("drain-urgent may not", () => {
  test.each([
    ["GET /api/v1/nodes?watch=true", "not-granted"],
    ["GET /api/v1/nodes?watch=1", "not-granted"],
    ["GET /api/v1/nodes?%77atch=true", "not-granted"],
    ["GET /api/v1/pods?watch=true", "not-granted"],
    ["DELETE /api/v1/nodes/a", "not-granted"],
    ["PUT /api/v1/nodes/a", "not-granted"],
    ["POST /api/v1/nodes", "not-granted"],
    ["PATCH /api/v1/nodes/a/status", "not-granted"],
    ["GET /api/v1/nodes/a/proxy", "not-granted"],
    ["GET /api/v1/namespaces/default/pods/a", "not-granted"],
    ["PATCH /api/v1/namespaces/default/pods/a", "not-granted"],
    ["POST /api/v1/namespaces/default/pods", "not-granted"],
    ["POST /api/v1/namespaces/default/pods/a/exec", "not-granted"],
    ["GET /api/v1/namespaces/default/pods/a/exec", "not-granted"],
    ["GET /api/v1/namespaces/default/pods/a/log", "not-granted"],
    ["GET /api/v1/namespaces/default/pods/a/eviction", "not-granted"],
    ["POST /api/v1/namespaces/default/pods/a/binding", "not-granted"],
    ["GET /api/v1/namespaces/default/events", "not-granted"],
    ["GET /api/v1/namespaces/default/secrets", "not-granted"],
    ["GET /api/v1/secrets", "not-granted"],
    ["GET /api/v1/namespaces/default", "not-granted"],
    ["GET /api/v1/namespaces/default/nodes", "not-granted"],
    ["GET /api/v1/namespaces/default/nodes/a", "not-granted"],
    ["GET /api/v1/pods/a", "not-granted"],
    ["POST /api/v1/events", "not-granted"],
    ["POST /api/v1/pods/a/eviction", "not-granted"],
    ["GET /apis/policy/v1beta1/poddisruptionbudgets", "not-granted"],
    ["GET /apis/apps/v1/pods", "not-granted"],
    ["GET /apis/policy/v1/namespaces/default/poddisruptionbudgets/a", "not-granted"],
    ["POST /apis/authentication.k8s.io/v1/tokenreviews", "not-granted"],
    ["POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "not-granted"],
    ["DELETE /api/v1/namespaces/default/pods", "method"],
    ["DELETE /api/v1/nodes", "method"],
    ["PATCH /api/v1/nodes", "method"],
    ["POST /api/v1/nodes/a", "method"],
    ["HEAD /api/v1/nodes", "method"],
    ["OPTIONS /api/v1/nodes", "method"],
    ["TRACE /api/v1/nodes", "method"],
    ["get /api/v1/nodes", "method"],
    ["PURGE /api/v1/nodes", "method"],
    ["GET /api/v1/nodes/a?watch=true", "method"],
    ["POST /api/v1/namespaces/default/events?watch=true", "method"],
    ["GET /api/v1/watch/nodes", "not-granted"],
    ["GET /api/v1/watch/namespaces/default/pods", "target"],
    ["GET /api/v1/nodes?watch=yes", "watch-parameter"],
    ["GET /api/v1/nodes?watch", "watch-parameter"],
    ["GET /api/v1/nodes?watch=TRUE", "watch-parameter"],
    ["GET /api/v1/nodes?watch=false&watch=true", "watch-parameter"],
    ["GET /api", "target"],
    ["GET /api/v1", "target"],
    ["GET /apis", "target"],
    ["GET /readyz", "target"],
    ["GET /metrics", "target"],
    ["GET /openapi/v3", "target"],
    ["GET /", "target"],
  ])("%s", (asked, reason) => {
    expect(answerTo(asked)).toBe(reason);
  });
});

const asFenceNode = (asked: string) => answerTo(asked, "nodekeeper:fence-node");
const LEASES = "/apis/coordination.k8s.io/v1";
const ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments";

describe("fence-node may", () => {
  test.each([
    ["GET /api/v1/nodes?limit=500", "list nodes"],
    ["GET /api/v1/nodes/a", "get nodes"],
    ["PATCH /api/v1/nodes/a?fieldManager=nodekeeper", "patch nodes"],
    ["DELETE /api/v1/nodes/a", "delete nodes"],
    ["GET /api/v1/pods?fieldSelector=spec.nodeName%3Da&limit=100", "list pods"],
    ["DELETE /api/v1/namespaces/default/pods/a-0", "delete pods"],
    ["POST /api/v1/namespaces/default/events", "create events"],
    [`GET ${ATTACHMENTS}?limit=500`, "list volumeattachments"],
    [`DELETE ${ATTACHMENTS}/csi-0123`, "delete volumeattachments"],
    [`GET ${LEASES}/namespaces/nodekeeper/leases?limit=500`, "list leases"],
    [`GET ${LEASES}/namespaces/nodekeeper/leases/a`, "get leases"],
    [`GET ${LEASES}/namespaces/kube-node-lease/leases?limit=500&continue=x`, "list leases"],
    [`GET ${LEASES}/namespaces/kube-node-lease/leases/a`, "get leases"],
    ["GET /api/v1/namespaces/nodekeeper/configmaps/fencing", "get configmaps"],
    ["PUT /api/v1/namespaces/nodekeeper/configmaps/fencing", "update configmaps"],
    ["POST /api/v1/namespaces/nodekeeper/configmaps", "create configmaps"],
  ])("%s", (asked, allowed) => {
    expect(asFenceNode(asked)).toBe(allowed);
  });
});

describe("fence-node may not", () => {
  test.each([
    // What says that a node lives is never written by who may end it.
    [`PUT ${LEASES}/namespaces/nodekeeper/leases/a`, "not-granted"],
    [`PATCH ${LEASES}/namespaces/nodekeeper/leases/a`, "not-granted"],
    [`DELETE ${LEASES}/namespaces/nodekeeper/leases/a`, "not-granted"],
    [`POST ${LEASES}/namespaces/nodekeeper/leases`, "not-granted"],
    [`PUT ${LEASES}/namespaces/kube-node-lease/leases/a`, "not-granted"],
    [`DELETE ${LEASES}/namespaces/kube-node-lease/leases/a`, "not-granted"],
    [`GET ${LEASES}/namespaces/nodekeeper/leases?watch=true`, "not-granted"],
    [`GET ${LEASES}/leases`, "not-granted"],
    [`GET ${LEASES}/namespaces/kube-system/leases`, "not-granted"],
    [`GET ${LEASES}/namespaces/kube-system/leases/kube-scheduler`, "not-granted"],
    [`GET ${LEASES}/namespaces/nodekeeper-2/leases/a`, "not-granted"],
    // The relay's map of identities lies beside the observations.
    ["GET /api/v1/namespaces/nodekeeper/configmaps/nodekeeper-relay-identities", "not-granted"],
    ["PUT /api/v1/namespaces/nodekeeper/configmaps/nodekeeper-relay-identities", "not-granted"],
    ["PUT /api/v1/namespaces/nodekeeper/configmaps/fencing-2", "not-granted"],
    ["GET /api/v1/namespaces/nodekeeper/configmaps", "not-granted"],
    ["PATCH /api/v1/namespaces/nodekeeper/configmaps/fencing", "not-granted"],
    ["DELETE /api/v1/namespaces/nodekeeper/configmaps/fencing", "not-granted"],
    ["GET /api/v1/namespaces/default/configmaps/fencing", "not-granted"],
    ["PUT /api/v1/namespaces/kube-system/configmaps/fencing", "not-granted"],
    ["POST /api/v1/namespaces/kube-system/configmaps", "not-granted"],
    ["POST /api/v1/configmaps", "not-granted"],
    ["GET /api/v1/configmaps", "not-granted"],
    ["GET /api/v1/configmaps/fencing", "not-granted"],
    [`GET ${ATTACHMENTS}/csi-0123`, "not-granted"],
    [`PATCH ${ATTACHMENTS}/csi-0123`, "not-granted"],
    [`POST ${ATTACHMENTS}`, "not-granted"],
    [`DELETE ${ATTACHMENTS}`, "method"],
    ["DELETE /api/v1/nodes", "method"],
    ["POST /api/v1/nodes", "not-granted"],
    ["PUT /api/v1/nodes/a", "not-granted"],
    ["PATCH /api/v1/nodes/a/status", "not-granted"],
    ["DELETE /api/v1/namespaces/default/pods", "method"],
    ["POST /api/v1/namespaces/default/pods/a-0/eviction", "not-granted"],
    ["GET /api/v1/namespaces/default/secrets/a", "not-granted"],
    ["GET /api/v1/persistentvolumes", "not-granted"],
  ])("%s", (asked, reason) => {
    expect(asFenceNode(asked)).toBe(reason);
  });
});

test.each([
  "DELETE /api/v1/nodes/a",
  `GET ${LEASES}/namespaces/nodekeeper/leases`,
  `DELETE ${ATTACHMENTS}/csi-0123`,
  "GET /api/v1/namespaces/nodekeeper/configmaps/fencing",
])("what fence-node may isn't drain-urgent's: %s", (asked) => {
  expect(answerTo(asked)).toBe("not-granted");
});

describe("a target that two programs could read in two ways is refused:", () => {
  test.each([
    "//api/v1/nodes",
    "///api/v1/nodes",
    "/api/v1//nodes",
    "/api//v1/nodes",
    "/api/v1/nodes/",
    "/api/v1/nodes//a",
    "/api/v1/namespaces//pods",
    "/api/v1/./nodes",
    "/api/v1/nodes/.",
    "/api/v1/nodes/..",
    "/api/v1/nodes/../secrets",
    "/api/v1/nodes/a/../../secrets",
    "/../api/v1/nodes",
    "/api/v1/nodes/a..b",
    "/api/v1/nodes%2fa",
    "/api/v1/nodes%2Fa",
    "/api/v1%2fnodes",
    "/api/v1/nodes/%2e%2e/secrets",
    "/api/v1/node%73",
    "/api/v1/nodes%00",
    "/api/v1/nodes/a%20b",
    "/api/v1\\nodes",
    "/api/v1/nodes\\..\\secrets",
    "\\api\\v1\\nodes",
    "/api/v1/nodes;x=1",
    "/api/v1/Nodes",
    "/API/v1/nodes",
    "/api/v1/nodes/A",
    "/api/v2/nodes",
    "/apis//v1/nodes",
    "/api/v1/nodes#fragment",
    "/api/v1/nodes?limit=1#fragment",
    "/api/v1/nodes?limit=1;watch=true",
    "/api/v1/nodes?a=\\b",
    "/api/v1/nodes??watch=true",
    "/api/v1/nodes???watch=true",
    "/api/v1/nodes??",
    "/api/v1/nodes?a=b c",
    "/api/v1/nodes/a b",
    "/api/v1/nodes\t",
    "/api/v1/nodes\r\nx: y",
    "/api/v1/nodes\0",
    "api/v1/nodes",
    "https://evil.example/api/v1/nodes",
    "https://10.0.0.1/api/v1/nodes",
    "http:/api/v1/nodes",
    "//evil.example/api/v1/nodes",
    "evil.example:443",
    "*",
    "?/api/v1/nodes",
    "",
  ])("%j", (target) => {
    expect(answerTo(`GET ${target}`)).toBe("target");
  });
});

describe("an upgraded connection is refused, whatever is asked for:", () => {
  test.each([
    "GET /api/v1/nodes",
    "POST /api/v1/namespaces/default/pods/a/exec",
    "POST /api/v1/namespaces/default/pods/a/eviction",
  ])("%s", (asked) => {
    expect(answerTo(asked, USER, true)).toBe("upgrade");
  });
});

describe("a table may grant more to another user", () => {
  test.each([
    ["GET /api/v1/nodes?watch=true&resourceVersion=5", "watch nodes"],
    ["GET /api/v1/namespaces/default/pods?watch=1", "watch pods"],
    ["GET /api/v1/pods?watch=true", "watch pods"],
    ["GET /api/v1/pods", "not-granted"],
    ["GET /api/v1/namespaces/default/pods/a/status", "get pods/status"],
    ["PUT /api/v1/namespaces/default/pods/a/status", "update pods/status"],
    ["PATCH /api/v1/namespaces/default/pods/a/status", "not-granted"],
    ["GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a", "get leases"],
    ["POST /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", "create leases"],
    ["GET /api/v1/namespaces/default", "get namespaces"],
    ["PATCH /api/v1/nodes/a", "not-granted"],
  ])("%s: %s", (asked, answer) => {
    expect(answerTo(asked, "observer")).toBe(answer);
  });
});

test.each(["", "system:admin", "nodekeeper:drain-urgent ", "nodekeeper:drain"])("the user '%s' may nothing", (user) => {
  expect(answerTo("GET /api/v1/nodes", user)).toBe("not-granted");
});
