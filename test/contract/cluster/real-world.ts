/**
 * The contract's world on a real API server. No kubelets and no scheduler: nodes and pods stay as they are written,
 * so that nothing but the requests under test changes them. The disruption controller keeps the budgets' counts.
 */
import * as z from "zod";
import { connectCluster } from "../../../shared/adapters/kube-cluster.ts";
import { connectFencingCluster } from "../../../shared/adapters/kube-fencing-cluster.ts";
import { aNode } from "../../builders/a-node.ts";
import { aPod } from "../../builders/a-pod.ts";
import { nodeDocument, podDocument } from "../../fakes/kube-api/documents.ts";
import { type ControlPlane, startControlPlane } from "../../rig/control-plane.ts";
import type { KubeRequest } from "../../rig/kube-api.ts";
import { waitUntil } from "../../rig/wait.ts";
import type { World } from "./world.ts";

const withUid = z.object({ metadata: z.object({ uid: z.string() }) });
const budgetStatus = z.object({ status: z.object({ observedGeneration: z.number().optional() }).optional() });
const eventList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      type: z.string(),
      reason: z.string(),
      message: z.string(),
      involvedObject: z.object({ uid: z.string().default("") }),
    }),
  ),
});

export async function openRealWorld(): Promise<World> {
  const plane = await startControlPlane({ kwok: false, controllers: ["disruption"], scheduler: false });
  const settings = { url: plane.url, ca: plane.caPem, token: async () => plane.adminToken };
  const fencing = connectFencingCluster(settings);
  const connections: { close(): void }[] = [fencing];
  const open = () => {
    const connection = connectCluster(settings);
    connections.push(connection);
    return connection.during(new AbortController().signal);
  };
  const namespaces = new Map<string, Promise<unknown>>();
  const ensureNamespace = async (name: string): Promise<void> => {
    const making =
      namespaces.get(name) ?? say(plane, { method: "POST", path: "/api/v1/namespaces", body: { metadata: { name } } });
    namespaces.set(name, making);
    await making;
  };
  return {
    cluster: open(),
    fencing: fencing.during(new AbortController().signal),
    ensureNamespace,
    async putLease({ namespace, name, renewTime, annotations }) {
      await ensureNamespace(namespace);
      const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
      const spec = { holderIdentity: name, renewTime: renewTime.toISOString().replace("Z", "000Z") };
      const body = { metadata: { name, annotations }, spec };
      const created = await plane.api.call({ method: "POST", path, body });
      if (created.status === 409) await say(plane, { method: "PATCH", path: `${path}/${name}`, body });
      else if (created.status >= 300) throw new Error(`creating a lease: ${created.status}`);
    },
    async putVolumeAttachment({ name, nodeName, persistentVolume }) {
      const path = "/apis/storage.k8s.io/v1/volumeattachments";
      const spec = { attacher: "ebs.csi.aws.com", nodeName, source: { persistentVolumeName: persistentVolume } };
      await say(plane, { method: "POST", path, body: { metadata: { name }, spec } });
    },
    otherProcess: open,
    async addNode(given) {
      const document = creatable(nodeDocument(aNode(given)));
      await say(plane, { method: "POST", path: "/api/v1/nodes", body: document });
      await say(plane, {
        method: "PATCH",
        path: `/api/v1/nodes/${given.name}/status`,
        body: { status: document.status },
      });
    },
    async removeNode(name) {
      await say(plane, { method: "DELETE", path: `/api/v1/nodes/${name}` });
    },
    async touchNode(name) {
      const body = { metadata: { annotations: { "example.com/touched": String(Date.now()) } } };
      await say(plane, { method: "PATCH", path: `/api/v1/nodes/${name}`, body });
    },
    async addPod(given) {
      const pod = aPod(given);
      const path = `/api/v1/namespaces/${pod.namespace}/pods`;
      await ensureNamespace(pod.namespace);
      const document = creatable(podDocument(pod));
      const spec = { ...document.spec, containers: [{ name: "main", image: "registry.invalid/main" }] };
      const created = withUid.parse(await say(plane, { method: "POST", path, body: { ...document, spec } }));
      const isAsCreated = pod.phase === "Pending" && !pod.ready;
      if (!isAsCreated) {
        await say(plane, { method: "PATCH", path: `${path}/${pod.name}/status`, body: { status: document.status } });
      }
      return { ...pod, uid: created.metadata.uid };
    },
    async removePod({ namespace, name }) {
      const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
      await say(plane, { method: "DELETE", path, body: { gracePeriodSeconds: 0 } });
    },
    async addBudget({ namespace, name, matchLabels, minAvailable }) {
      const path = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
      const body = { metadata: { name }, spec: { minAvailable, selector: { matchLabels } } };
      await say(plane, { method: "POST", path, body });
      await waitUntil(`budget ${name} is counted`, async () => {
        const { status } = budgetStatus.parse(await say(plane, { method: "GET", path: `${path}/${name}` }));
        return status?.observedGeneration !== undefined;
      });
    },
    async terminateNamespace(name) {
      // Without the controller of namespaces it stays in this state.
      await say(plane, { method: "DELETE", path: `/api/v1/namespaces/${name}` });
    },
    async listEvents(namespace) {
      const { items } = eventList.parse(
        await say(plane, { method: "GET", path: `/api/v1/namespaces/${namespace}/events` }),
      );
      return items.map(({ metadata, type, reason, message, involvedObject }) => {
        return { name: metadata.name, type, reason, note: message, uid: involvedObject.uid };
      });
    },
    async [Symbol.asyncDispose]() {
      for (const connection of connections) connection.close();
      await plane.stop();
    },
  };
}

/** The API server gives uid and resourceVersion itself, and refuses to be told the second. */
function creatable(document: object) {
  const { metadata, spec, status, ...rest } = z
    .looseObject({ metadata: z.record(z.string(), z.unknown()), spec: z.looseObject({}), status: z.looseObject({}) })
    .parse(document);
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, ...given } = metadata;
  return { ...rest, metadata: given, spec, status };
}

async function say(plane: ControlPlane, request: KubeRequest): Promise<unknown> {
  const { status, body } = await plane.api.call(request);
  if (status >= 300) throw new Error(`${request.method} ${request.path}: ${status} ${JSON.stringify(body)}`);
  return body;
}
