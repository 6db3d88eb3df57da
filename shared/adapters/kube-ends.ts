/** What the port `FencingCluster` ends with a dead node: its pods, its attachments and the Node, each under preconditions. */
import type { CoreV1Api, StorageV1Api, V1VolumeAttachment } from "@kubernetes/client-node/dist/gen/index.js";
import type { DeletionAnswer } from "../ports/cluster.ts";
import type { FencingCluster, VolumeAttachment } from "../ports/fencing-cluster.ts";
import { asking } from "./kube-answers.ts";
import { readDeletionFailure } from "./kube-evictions.ts";
import { required } from "./kube-objects.ts";
import { listPages } from "./kube-pages.ts";

type EndRequests = Pick<
  FencingCluster,
  "forceDeletePod" | "listVolumeAttachments" | "deleteVolumeAttachment" | "deleteNode"
>;

export function endRequests(core: CoreV1Api, storage: StorageV1Api): EndRequests {
  return {
    forceDeletePod: ({ namespace, name, uid }) => {
      const body = { gracePeriodSeconds: 0, preconditions: { uid } };
      return deleting(() => core.deleteNamespacedPod({ namespace, name, body }));
    },

    listVolumeAttachments: (nodeName) =>
      asking("listing volume attachments", async () => {
        const ofNode = (one: V1VolumeAttachment) =>
          one.spec.nodeName === nodeName ? toVolumeAttachment(one) : undefined;
        return await listPages((page) => storage.listVolumeAttachment(page), ofNode);
      }),

    deleteVolumeAttachment: ({ name, uid }) =>
      deleting(() => storage.deleteVolumeAttachment({ name, body: { preconditions: { uid } } })),

    deleteNode: ({ name, uid, resourceVersion }) =>
      deleting(() => core.deleteNode({ name, body: { preconditions: { uid, resourceVersion } } })),
  };
}

async function deleting(ask: () => Promise<unknown>): Promise<DeletionAnswer> {
  try {
    await ask();
    return { kind: "deleted" };
  } catch (error) {
    return readDeletionFailure(error);
  }
}

function toVolumeAttachment({ metadata, spec }: V1VolumeAttachment): VolumeAttachment {
  return {
    name: required(metadata?.name, "VolumeAttachment", "name"),
    uid: required(metadata?.uid, "VolumeAttachment", "uid"),
    nodeName: spec.nodeName,
    persistentVolume: spec.source.persistentVolumeName,
  };
}
