/**
 * kwok plays the kubelets of all nodes: nodes become Ready, bound pods become Running, and deleted pods go after the
 * time that their containers take to stop. Our stages instead of its own, so that this time can be chosen.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { programPath } from "./parts.ts";
import { type RunningProgram, startProgram } from "./processes.ts";

export interface KubeletBehaviour {
  /** How long a deleted pod takes to stop. Default 0. */
  readonly podStopMilliseconds?: number;
  /** Whether kubelets renew their Lease, every 10 s. Default true; false spares requests where nodes are many. */
  readonly leases?: boolean;
}

/** A node with this label, value `dead`, has no kubelet: nothing on it changes any more. */
export const KUBELET_LABEL = "rig.nodekeeper.dev/kubelet";
/** On a pod: how long this one takes to stop, as in `30s`. */
export const STOPS_AFTER_ANNOTATION = "rig.nodekeeper.dev/stops-after";

export async function startKwok(
  folder: string,
  kubeconfig: string,
  { podStopMilliseconds = 0, leases = true }: KubeletBehaviour,
): Promise<RunningProgram> {
  const config = join(folder, "kwok.yaml");
  await writeFile(config, [nodeReady, podRunning, podStopped(podStopMilliseconds)].map(document).join(""));
  return startProgram({
    name: "kwok",
    command: programPath("kwok"),
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--config=${config}`,
      `--manage-nodes-with-label-selector=${KUBELET_LABEL}!=dead`,
      `--node-lease-duration-seconds=${leases ? 40 : 0}`,
    ],
    // It keeps files of its own below the home folder.
    env: { HOME: folder },
    logFile: join(folder, "kwok.log"),
  });
}

const nodeReady = stage("node-ready", "Node", {
  selector: {
    matchExpressions: [
      { key: '.status.conditions.[] | select( .type == "Ready" ) | .status', operator: "NotIn", values: ["True"] },
    ],
  },
  next: {
    statusTemplate: `
{{ $now := Now }}
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
allocatable: { cpu: "64", memory: 256Gi, pods: "1000" }
capacity: { cpu: "64", memory: 256Gi, pods: "1000" }
phase: Running
`,
  },
});

const podRunning = stage("pod-running", "Pod", {
  selector: {
    matchExpressions: [
      { key: ".metadata.deletionTimestamp", operator: "DoesNotExist" },
      { key: ".status.podIP", operator: "DoesNotExist" },
    ],
  },
  next: {
    statusTemplate: `
{{ $now := Now }}
phase: Running
startTime: {{ $now | Quote }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) .metadata.uid .metadata.name .metadata.namespace | Quote }}
conditions:
{{ range $type := list "Initialized" "Ready" "ContainersReady" }}
- { type: {{ $type }}, status: "True", lastTransitionTime: {{ $now | Quote }} }
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  restartCount: 0
  state: { running: { startedAt: {{ $now | Quote }} } }
{{ end }}
`,
  },
});

function podStopped(durationMilliseconds: number): object {
  return stage("pod-stopped", "Pod", {
    selector: { matchExpressions: [{ key: ".metadata.deletionTimestamp", operator: "Exists" }] },
    delay: {
      durationMilliseconds,
      durationFrom: { expressionFrom: `.metadata.annotations["${STOPS_AFTER_ANNOTATION}"]` },
    },
    // Finalizers stay: as with a kubelet, whoever put one there takes it away.
    next: { delete: true },
  });
}

/** https://kwok.sigs.k8s.io/docs/user/stages-configuration/ */
function stage(name: string, kind: "Node" | "Pod", spec: object): object {
  return {
    apiVersion: "kwok.x-k8s.io/v1alpha1",
    kind: "Stage",
    metadata: { name },
    spec: { resourceRef: { apiGroup: "v1", kind }, ...spec },
  };
}

/** JSON is YAML too. */
function document(content: object): string {
  return `---\n${JSON.stringify(content)}\n`;
}
