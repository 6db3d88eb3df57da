/** What the suites that stand on the control plane take for granted. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../../rig/control-plane.ts";
import { describeReal } from "../../rig/real-parts.ts";
import { createNamespaces, createNodes, createPods, instanceIdFor, killKubelet } from "../../rig/seed.ts";
import { waitUntil } from "../../rig/wait.ts";

const POD_STOP_MILLISECONDS = 1500;

describeReal("the control plane", ["control plane"], () => {
  let plane: ControlPlane;

  beforeAll(async () => {
    plane = await startControlPlane({
      users: [{ name: "nobody" }, { name: "system:node:node-1", groups: ["system:nodes"] }],
      kwok: { podStopMilliseconds: POD_STOP_MILLISECONDS },
    });
    await createNodes(
      plane,
      [1, 2, 3].map((n) => ({ name: `node-${n}`, instanceId: instanceIdFor(n) })),
    );
  });
  afterAll(() => plane?.stop());

  const path = (name: string, field: string) => plane.kubectl("get", ...name.split(" "), "-o", `jsonpath={${field}}`);

  it("makes nodes Ready and tells the instance of each", async () => {
    await plane.kubectl("wait", "node", "--all", "--for=condition=Ready", "--timeout=20s");
    expect(await path("node node-1", ".spec.providerID")).toBe("aws:///eu-west-1a/i-00000000000000001");
  });

  it("runs pods on their nodes, and places those that name none", async () => {
    await createNamespaces(plane, ["shop"]);
    await createPods(plane, [
      { name: "placed", namespace: "shop", nodeName: "node-1" },
      { name: "unplaced", namespace: "shop" },
    ]);
    await plane.kubectl("wait", "pod", "-n", "shop", "--all", "--for=condition=Ready", "--timeout=20s");
    expect(await path("pod unplaced -n shop", ".spec.nodeName")).toMatch(/^node-/);
  });

  it("takes as long to delete a pod as its containers take to stop", async () => {
    await createPods(plane, [
      { name: "usual", nodeName: "node-2" },
      { name: "slow", nodeName: "node-2", stopsAfterSeconds: 4 },
    ]);
    await plane.kubectl("wait", "pod", "usual", "slow", "--for=condition=Ready", "--timeout=20s");
    const start = performance.now();
    await plane.kubectl("delete", "pod", "usual");
    const usual = performance.now() - start;
    expect(usual).toBeGreaterThan(POD_STOP_MILLISECONDS - 100);
    // Generous: machines are busy when all suites run.
    expect(usual).toBeLessThan(POD_STOP_MILLISECONDS + 8000);
    await plane.kubectl("delete", "pod", "slow");
    expect(performance.now() - start - usual).toBeGreaterThan(3900);
  });

  it("leaves everything on a node as it is when its kubelet is dead", async () => {
    await createPods(plane, [{ name: "stranded", nodeName: "node-3" }]);
    await plane.kubectl("wait", "pod", "stranded", "--for=condition=Ready", "--timeout=20s");
    await killKubelet(plane, "node-3");
    await plane.kubectl("delete", "pod", "stranded", "--wait=false");
    await new Promise((resolve) => setTimeout(resolve, POD_STOP_MILLISECONDS + 1500));
    expect(await path("pod stranded", ".metadata.deletionTimestamp")).not.toBe("");
  });

  it("refuses a user whom no role allows anything", async () => {
    const answer = await plane.api.call({ method: "GET", path: "/api/v1/nodes", token: plane.userToken("nobody") });
    expect(answer.status).toBe(403);
  });

  it("keeps a kubelet from labels under node-restriction.kubernetes.io", async () => {
    const token = plane.userToken("system:node:node-1");
    const patch = (labels: object) =>
      plane.api.call({ method: "PATCH", path: "/api/v1/nodes/node-1", body: { metadata: { labels } }, token });
    expect((await patch({ "example.com/role": "any" })).status).toBe(200);
    expect((await patch({ "nodekeeper.node-restriction.kubernetes.io/instance-id": "i-0" })).status).toBe(403);
  });

  it("knows service accounts by the tokens that it gives them", async () => {
    await plane.kubectl("create", "serviceaccount", "relay");
    const token = (await plane.kubectl("create", "token", "relay")).trim();
    const whoAmI = await plane.api.call({
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      token,
    });
    expect(whoAmI.body).toMatchObject({
      status: { userInfo: { username: "system:serviceaccount:default:relay" } },
    });
  });

  it("asks an admission policy before it writes", async () => {
    const apiVersion = "admissionregistration.k8s.io/v1";
    await plane.apply(
      {
        apiVersion,
        kind: "ValidatingAdmissionPolicy",
        metadata: { name: "no-secrets" },
        spec: {
          matchConstraints: {
            resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }],
          },
          validations: [{ expression: "object.metadata.name != 'forbidden'", message: "not this one" }],
        },
      },
      {
        apiVersion,
        kind: "ValidatingAdmissionPolicyBinding",
        metadata: { name: "no-secrets" },
        spec: { policyName: "no-secrets", validationActions: ["Deny"] },
      },
    );
    // A policy takes effect a moment after it is written.
    await waitUntil("the policy refuses", async () => {
      const body = { metadata: { name: "forbidden" } };
      const answer = await plane.api.call({
        method: "POST",
        path: "/api/v1/namespaces/default/secrets?dryRun=All",
        body,
      });
      return answer.status === 422;
    });
  });
});

describeReal("the control plane with many nodes", ["control plane"], () => {
  it("runs 500 pods on 50 nodes", { timeout: 120_000 }, async () => {
    await using plane = await startControlPlane();
    const names = Array.from({ length: 50 }, (_, n) => `node-${n}`);
    await createNodes(
      plane,
      names.map((name, n) => ({ name, instanceId: instanceIdFor(n) })),
    );
    const pods = Array.from({ length: 500 }, (_, n) => ({ name: `pod-${n}`, nodeName: `node-${n % 50}` }));
    await createPods(plane, pods);
    await waitUntil("all pods run", async () => (await countRunning(plane)) === 500, { withinMilliseconds: 60_000 });
  });

  async function countRunning(plane: ControlPlane): Promise<number> {
    const names = await plane.kubectl("get", "pods", "--field-selector=status.phase=Running", "-o", "name");
    return names.split("\n").filter((line) => line !== "").length;
  }
});
