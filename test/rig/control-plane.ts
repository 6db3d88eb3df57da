/**
 * A real Kubernetes control plane on loopback: etcd, kube-apiserver with RBAC and node restriction, controllers,
 * scheduler, and kwok in the part of the kubelets. Ready in about four seconds, gone without a trace when stopped.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ADMIN, type ControlPlaneFiles, type KubeUser, writeControlPlaneFiles } from "./control-plane-files.ts";
import { startApiServer, startController, startEtcd, startScheduler } from "./control-plane-programs.ts";
import { connectKubeApi, type KubeApi } from "./kube-api.ts";
import { type KubeletBehaviour, startKwok } from "./kwok.ts";
import { programPath } from "./parts.ts";
import { findFreePorts } from "./ports.ts";
import type { RunningProgram } from "./processes.ts";
import { run } from "./run.ts";
import { waitUntil } from "./wait.ts";

export interface ControlPlaneOptions {
  /** Users who have a token besides the administrator. They may do nothing until RBAC says so. */
  readonly users?: readonly KubeUser[];
  /** How the kubelets behave; false: there are none, and nodes and pods stay as they are written. */
  readonly kwok?: false | KubeletBehaviour;
  /**
   * Controllers of kube-controller-manager; empty: none runs. Without the one for service accounts, pods need none;
   * without the one for the life of nodes, new nodes aren't tainted as not ready.
   */
  readonly controllers?: readonly string[];
  /** Whether something binds pods to nodes. Default: true where controllers run. */
  readonly scheduler?: boolean;
}

export interface ControlPlane extends AsyncDisposable {
  readonly url: string;
  readonly caPem: string;
  readonly caFile: string;
  readonly adminToken: string;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** A client with the administrator's token, or any other. */
  readonly api: KubeApi;
  /** @throws if the user wasn't named at the start. */
  userToken(name: string): string;
  /** Standard output of kubectl as the administrator. @throws with what it complained of. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** `kubectl apply` of objects, server side. */
  apply(...objects: readonly object[]): Promise<void>;
  /** From now on the API server answers nobody: requests hang, connections stay open. */
  freeze(): void;
  /** It goes on where it was. */
  thaw(): void;
  stop(): Promise<void>;
}

const NODE_LIFECYCLE = "node-lifecycle-controller";

export const DEFAULT_CONTROLLERS = [
  "disruption",
  "replicaset-controller",
  "deployment-controller",
  "daemonset-controller",
  "garbage-collector-controller",
  "pod-garbage-collector-controller",
  NODE_LIFECYCLE,
  "taint-eviction-controller",
  "serviceaccount-controller",
  "namespace-controller",
] as const;

export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { users = [], kwok = {} } = options;
  const controllers = options.controllers ?? controllersFor(kwok);
  const folder = await mkdtemp(join(tmpdir(), "nodekeeper-control-plane-"));
  await using onFailure = new AsyncDisposableStack();
  onFailure.defer(() => rm(folder, { recursive: true, force: true }));
  const started = <T extends RunningProgram>(program: T) => onFailure.use(program);

  const [etcdPort, apiPort] = await findFreePorts(2);
  const url = `https://127.0.0.1:${apiPort}`;
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const files = await writeControlPlaneFiles(folder, url, users);
  const adminToken = tokenOf(files, ADMIN.name);
  const api = connectKubeApi(url, files.caPem, adminToken);
  onFailure.defer(async () => api.close());

  started(await startEtcd(folder, etcdUrl));
  const accounts = controllers.includes("serviceaccount-controller");
  const disabledAdmission = [
    ...(accounts ? [] : ["ServiceAccount"]),
    ...(controllers.includes(NODE_LIFECYCLE) ? [] : ["TaintNodesByCondition"]),
  ];
  const apiServer = started(
    await startApiServer({ folder, files, api, etcdUrl, port: Number(apiPort), disabledAdmission }),
  );
  if (controllers.length > 0) started(await startController(folder, files, controllers));
  if (options.scheduler ?? controllers.length > 0) started(await startScheduler(folder, files));
  if (kwok !== false) started(await startKwok(folder, files.kubeconfig, kwok));
  if (accounts) await waitUntil("namespaces have service accounts", () => hasDefaultAccount(api));

  const running = onFailure.move();
  const kubectl = (args: readonly string[], input = "") =>
    run(programPath("kubectl"), ["--kubeconfig", files.kubeconfig, ...args], { input, env: { HOME: folder } });
  const stop = () => running.disposeAsync();
  return {
    url,
    caPem: files.caPem,
    caFile: files.caFile,
    adminToken,
    kubeconfig: files.kubeconfig,
    api,
    userToken: (name) => tokenOf(files, name),
    kubectl: (...args) => kubectl(args),
    async apply(...objects) {
      const list = { apiVersion: "v1", kind: "List", items: objects };
      await kubectl(["apply", "--server-side", "-f", "-"], JSON.stringify(list));
    },
    freeze: () => void process.kill(apiServer.pid, "SIGSTOP"),
    thaw: () => void process.kill(apiServer.pid, "SIGCONT"),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Without Leases from the kubelets the life of nodes isn't judged: all would be unreachable after 50 s. */
function controllersFor(kwok: NonNullable<ControlPlaneOptions["kwok"]>): readonly string[] {
  const leases = kwok !== false && (kwok.leases ?? true);
  return leases ? DEFAULT_CONTROLLERS : DEFAULT_CONTROLLERS.filter((name) => name !== NODE_LIFECYCLE);
}

function tokenOf(files: ControlPlaneFiles, user: string): string {
  const token = files.tokens.get(user);
  if (token === undefined) throw new Error(`looking for the token of ${user}: not among the users at the start`);
  return token;
}

async function hasDefaultAccount(api: KubeApi): Promise<boolean> {
  const answer = await api.call({ method: "GET", path: "/api/v1/namespaces/default/serviceaccounts/default" });
  return answer.status === 200;
}
