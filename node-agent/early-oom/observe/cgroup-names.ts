/**
 * How the kubelet and the runtimes name cgroups: by the systemd driver as nested slices and scopes
 * (`kubepods-burstable-pod<uid>.slice/cri-containerd-<id>.scope`), by the cgroupfs driver as plain folders
 * (`burstable/pod<uid>/<id>`), with prefixes where the kubelet itself runs in a cgroup of its own.
 */
import type { QosClass } from "../words.ts";

const API_UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** containerd, CRI-O and cri-dockerd. `crio-conmon-<id>` watches a container and is none. */
const CONTAINER = /^(?:cri-containerd-|crio-|docker-)?([0-9a-f]{64})(?:\.scope)?$/;

export function isKubepods(name: string): boolean {
  return /^(?:.*-)?kubepods(?:\.slice)?$/.test(name);
}

/** The class that a folder right below `kubepods` gathers; undefined where it gathers none. */
export function findQosClass(name: string): QosClass | undefined {
  const found = /^(?:.*-)?(burstable|besteffort)(?:\.slice)?$/.exec(name)?.[1];
  return found === "burstable" || found === "besteffort" ? found : undefined;
}

/** The pod's UID as the kubelet has it, or undefined where the folder is no pod's. */
export function findPodUid(name: string): string | undefined {
  // systemd takes a dash for a level, so the driver writes underscores.
  const escaped = /-pod([^-]+)\.slice$/.exec(name)?.[1];
  if (escaped === undefined) return /^pod([^/]+?)$/.exec(name)?.[1];
  const dashed = escaped.replaceAll("_", "-");
  return API_UID.test(dashed) ? dashed : escaped;
}

/** The API gives every pod a UUID; a static pod has the hash of its file instead, or what the file says. */
export function isStaticUid(podUid: string): boolean {
  return !API_UID.test(podUid);
}

/** The container's id, or undefined where the folder is no container's. */
export function findContainerId(name: string): string | undefined {
  return CONTAINER.exec(name)?.[1];
}
