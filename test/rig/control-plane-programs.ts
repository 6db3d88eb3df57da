/** With which flags each program of the control plane runs in tests. */
import { join } from "node:path";
import type { ControlPlaneFiles } from "./control-plane-files.ts";
import type { KubeApi } from "./kube-api.ts";
import { programPath } from "./parts.ts";
import { type RunningProgram, startProgram } from "./processes.ts";

export function startEtcd(folder: string, url: string): Promise<RunningProgram> {
  return startProgram({
    name: "etcd",
    command: programPath("etcd"),
    args: [
      `--data-dir=${join(folder, "etcd")}`,
      // Nothing here must survive a power cut.
      "--unsafe-no-fsync",
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      "--listen-peer-urls=http://127.0.0.1:0",
    ],
    logFile: join(folder, "etcd.log"),
    isReady: async () => (await fetch(`${url}/health`)).ok,
  });
}

export interface ApiServerStart {
  readonly folder: string;
  readonly files: ControlPlaneFiles;
  readonly api: KubeApi;
  readonly etcdUrl: string;
  readonly port: number;
  /** Admission plug-ins that would wait for a controller that doesn't run. */
  readonly disabledAdmission: readonly string[];
}

/** In-flight limits, priority and fairness stay as they are by default: what is measured must be what people run. */
export function startApiServer({ folder, files, api, etcdUrl, port, disabledAdmission }: ApiServerStart) {
  return startProgram({
    name: "kube-apiserver",
    command: programPath("kube-apiserver"),
    args: [
      `--etcd-servers=${etcdUrl}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      `--secure-port=${port}`,
      "--endpoint-reconciler-type=none",
      `--tls-cert-file=${files.certFile}`,
      `--tls-private-key-file=${files.keyFile}`,
      `--token-auth-file=${files.tokenFile}`,
      "--authorization-mode=Node,RBAC",
      "--enable-admission-plugins=NodeRestriction",
      `--disable-admission-plugins=${disabledAdmission.join(",")}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${files.accountPublicKeyFile}`,
      `--service-account-signing-key-file=${files.accountKeyFile}`,
      "--service-cluster-ip-range=10.96.0.0/16",
      // As in kubeadm's clusters and EKS: what a namespace allows is the pod security standard's to say.
      "--allow-privileged=true",
    ],
    logFile: join(folder, "kube-apiserver.log"),
    isReady: async () => (await api.call({ method: "GET", path: "/readyz" })).status === 200,
  });
}

export function startController(folder: string, files: ControlPlaneFiles, controllers: readonly string[]) {
  return startProgram({
    name: "kube-controller-manager",
    command: programPath("kube-controller-manager"),
    args: [
      `--kubeconfig=${files.kubeconfig}`,
      `--controllers=${controllers.join(",")}`,
      "--leader-elect=false",
      // Serves nothing: by default it would listen on all interfaces.
      "--secure-port=0",
    ],
    logFile: join(folder, "kube-controller-manager.log"),
  });
}

export function startScheduler(folder: string, files: ControlPlaneFiles) {
  return startProgram({
    name: "kube-scheduler",
    command: programPath("kube-scheduler"),
    args: [`--kubeconfig=${files.kubeconfig}`, "--leader-elect=false", "--secure-port=0"],
    logFile: join(folder, "kube-scheduler.log"),
  });
}
