/** The node agents' own manifests, with the components that a test wants, and tokens as their pods have them. */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import * as z from "zod";
import type { ControlPlane } from "../rig/control-plane.ts";

const MANIFESTS = join(import.meta.dirname, "../../node-agent/manifests");

/** Where the agents' service account and pods are. */
export const AGENT_NAMESPACE = "nodekeeper-node-agent";
export const AGENT_ACCOUNT = "nodekeeper-node-agent";

/** An overlay as an operator would write it: the base and these components. The folder is removed afterwards. */
export async function withOverlay<T>(
  components: readonly string[],
  use: (folder: string) => Promise<T>,
  others: readonly string[] = [],
): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "nodekeeper-overlay-")));
  // kustomize takes relative paths only.
  const from = (path: string) => relative(folder, path);
  const overlay = {
    resources: [join(MANIFESTS, "base"), ...others].map(from),
    components: components.map((name) => from(join(MANIFESTS, "components", name))),
  };
  try {
    await writeFile(join(folder, "kustomization.yaml"), JSON.stringify(overlay));
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const tokenSchema = z.object({ status: z.object({ token: z.string() }) });
const uidSchema = z.object({ metadata: z.object({ uid: z.string() }) });

/** The token of the agents' pod on this node, as the kubelet gets it. Node and pod are made; the manifests are applied. */
export async function agentTokenOn(cluster: ControlPlane, nodeName: string): Promise<string> {
  const metadata = { name: nodeName, namespace: AGENT_NAMESPACE };
  const containers = [{ name: "main", image: "none" }];
  await cluster.apply(
    { apiVersion: "v1", kind: "Node", metadata: { name: nodeName } },
    { apiVersion: "v1", kind: "Pod", metadata, spec: { nodeName, serviceAccountName: AGENT_ACCOUNT, containers } },
  );
  const path = `/api/v1/namespaces/${AGENT_NAMESPACE}/pods/${nodeName}`;
  const { uid } = uidSchema.parse((await cluster.api.call({ method: "GET", path })).body).metadata;
  return agentToken(cluster, { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: nodeName, uid } });
}

/** @param spec of a TokenRequest; without a bound object the token names no node. */
export async function agentToken(cluster: ControlPlane, spec: object): Promise<string> {
  const path = `/api/v1/namespaces/${AGENT_NAMESPACE}/serviceaccounts/${AGENT_ACCOUNT}/token`;
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
  return tokenSchema.parse((await cluster.api.call({ method: "POST", path, body })).body).status.token;
}
