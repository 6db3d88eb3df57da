/**
 * A real API server with the node agents' own manifests, and nodes whose agents write with the token that their pod
 * would have: rights and admission are those that ship.
 */
import * as z from "zod";
import {
  FENCING_ANNOTATION,
  FENCING_LEASE_NAMESPACE,
  type FencingStatement,
} from "../../../shared/domain/fencing-lease.ts";
import { PAUSED_ANNOTATION } from "../../../shared/domain/keys.ts";
import { readFencingStatement } from "../../../shared/domain/read-fencing-lease.ts";
import { type ControlPlane, startControlPlane } from "../../rig/control-plane.ts";
import { waitUntil } from "../../rig/wait.ts";
import { AGENT_ACCOUNT, AGENT_NAMESPACE, withOverlay } from "../node-agent-manifests.ts";

export interface FencingCluster extends AsyncDisposable {
  readonly port: number;
  readonly caPem: string;
  /** Makes a Node. Gives the token of its agent, good for the Lease of this node only. */
  addNode(name: string): Promise<string>;
  /** What the Lease says; undefined while there is none. @throws if it can't be read as a statement. */
  lease(name: string): Promise<FencingStatement | undefined>;
  /** Resolves with the Lease when it `says` what is waited for. Default patience: 60,000. */
  waitForLease(name: string, says: Says, withinMilliseconds?: number): Promise<FencingStatement>;
  /** The annotation that says that somebody works on the node. */
  setMaintenance(name: string, under: boolean): Promise<void>;
}

/** What a Lease says, in part; undefined: nothing of that. */
export type Says =
  | { readonly [Key in keyof FencingStatement]?: FencingStatement[Key] | undefined }
  | ((statement: FencingStatement) => boolean);

/** The start of an agent, and a look at its Node that fails on a busy machine and is repeated after 15 s. */
const LEASE_MILLISECONDS = 60_000;
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${FENCING_LEASE_NAMESPACE}/leases`;
const PODS = `/api/v1/namespaces/${AGENT_NAMESPACE}/pods`;
const TOKEN = `/api/v1/namespaces/${AGENT_NAMESPACE}/serviceaccounts/${AGENT_ACCOUNT}/token`;

const tokenSchema = z.object({ status: z.object({ token: z.string() }) });
const podSchema = z.object({ metadata: z.object({ uid: z.string() }) });
const leaseSchema = z.object({ metadata: z.object({ annotations: z.record(z.string(), z.string()) }) });

export async function startFencingCluster(): Promise<FencingCluster> {
  await using onFailure = new AsyncDisposableStack();
  const cluster = onFailure.use(await startControlPlane({ controllers: [], kwok: false }));
  await withOverlay(["lease-namespace"], (folder) => cluster.kubectl("apply", "--server-side", "-k", folder));
  const running = onFailure.move();

  const lease = (name: string) => readLease(cluster, name);
  return {
    port: Number(new URL(cluster.url).port),
    caPem: cluster.caPem,
    lease,
    async addNode(name) {
      await cluster.apply({ apiVersion: "v1", kind: "Node", metadata: { name } }, agentPod(name));
      const pod = await cluster.api.call({ method: "GET", path: `${PODS}/${name}` });
      const { uid } = podSchema.parse(pod.body).metadata;
      const spec = { boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid } };
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
      return tokenSchema.parse((await cluster.api.call({ method: "POST", path: TOKEN, body })).body).status.token;
    },
    async waitForLease(name, says, withinMilliseconds = LEASE_MILLISECONDS) {
      let found: FencingStatement | undefined;
      const isSaid = async () => {
        found = await lease(name);
        return found !== undefined && agrees(found, says);
      };
      const what = typeof says === "function" ? says.toString() : JSON.stringify(says);
      try {
        await waitUntil(`the Lease says ${what}`, isSaid, { withinMilliseconds });
      } catch (cause) {
        throw new Error(`waiting until the Lease says ${what}; it says ${JSON.stringify(found)}`, { cause });
      }
      if (found === undefined) throw new Error("reading the Lease: it is gone");
      return found;
    },
    async setMaintenance(name, under) {
      const body = { metadata: { annotations: { [PAUSED_ANNOTATION]: under ? "by hand" : null } } };
      await cluster.api.call({ method: "PATCH", path: `/api/v1/nodes/${name}`, body });
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function readLease({ api }: ControlPlane, name: string): Promise<FencingStatement | undefined> {
  const { status, body } = await api.call({ method: "GET", path: `${LEASES}/${name}` });
  if (status !== 200) return undefined;
  const reading = readFencingStatement(leaseSchema.parse(body).metadata.annotations[FENCING_ANNOTATION]);
  if (reading.kind === "statement") return reading.statement;
  throw new Error(`reading the Lease of ${name}: ${reading.because}`);
}

function agrees(statement: FencingStatement, says: Says): boolean {
  if (typeof says === "function") return says(statement);
  const said = new Map<string, unknown>(Object.entries(statement));
  return Object.entries(says).every(([key, value]) => said.get(key) === value);
}

/** A pod of the DaemonSet as far as its token goes. */
const agentPod = (name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: AGENT_NAMESPACE },
  spec: { nodeName: name, serviceAccountName: AGENT_ACCOUNT, containers: [{ name: "main", image: "none" }] },
});
