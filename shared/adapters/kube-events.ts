/** Shapes Kubernetes Events: their names are fixed by what they say, so that posting one twice makes one Event. */
import { createHash } from "node:crypto";
import type { CoreV1Api, CoreV1Event } from "@kubernetes/client-node/dist/gen/index.js";
import { V1MicroTime } from "@kubernetes/client-node/dist/types.js";
import { podName } from "../domain/pod.ts";
import type { Cluster, ClusterEvent } from "../ports/cluster.ts";
import { asClusterError, codeOf } from "./kube-answers.ts";
import { isNamespaceTerminating } from "./kube-evictions.ts";

const COMPONENT = "nodekeeper";
/** Events about objects without a namespace live here; the API server demands it. */
const CLUSTER_NAMESPACE = "default";
/** A name has at most 253 characters, of which the hash and its dot take 17. */
const MAX_OBJECT_NAME = 253 - 17;
/** Bytes in UTF-8. */
const MAX_NOTE = 1_024;
const REMEMBERED = 1_000;

export function eventRequests(core: CoreV1Api, posted: PostedEvents): Pick<Cluster, "postEvent"> {
  return {
    async postEvent(event) {
      const body = toEvent(event);
      const { name, namespace } = body.metadata;
      if (posted.has(`${namespace}/${name}`)) return;
      try {
        await core.createNamespacedEvent({ namespace, body });
      } catch (error) {
        const wasThere = codeOf(error) === 409;
        const hasNoPlace = codeOf(error) === 404 || isNamespaceTerminating(error);
        if (!wasThere && !hasNoPlace) throw asClusterError(error, `posting an Event on ${regardingName(event)}`);
      }
      posted.add(`${namespace}/${name}`);
    },
  };
}

/** The Event as the API takes it. `action` says what we did about the object: the same word as the reason. */
function toEvent(event: ClusterEvent): CoreV1Event & { metadata: { name: string; namespace: string } } {
  const { regarding } = event;
  const namespace = regarding.kind === "Pod" ? regarding.namespace : CLUSTER_NAMESPACE;
  return {
    metadata: { name: eventName(event), namespace },
    involvedObject: { apiVersion: "v1", ...regarding },
    type: event.type,
    reason: event.reason,
    action: event.reason,
    message: cut(event.note),
    eventTime: new V1MicroTime(event.at),
    reportingComponent: COMPONENT,
    reportingInstance: COMPONENT,
  };
}

/** A character that the end falls into is left out. */
function cut(note: string): string {
  const bytes = new TextEncoder().encode(note).subarray(0, MAX_NOTE);
  return new TextDecoder().decode(bytes, { stream: true });
}

/** Where an Event is about: for error messages. */
function regardingName({ regarding }: ClusterEvent): string {
  return regarding.kind === "Pod" ? `pod ${podName(regarding)}` : `node ${regarding.name}`;
}

function eventName({ regarding, reason, incident }: ClusterEvent): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([regarding.uid, reason, incident]))
    .digest("hex")
    .slice(0, 16);
  // A cut may end in a sign that no name may have before a dot.
  return `${regarding.name.slice(0, MAX_OBJECT_NAME).replace(/[-.]+$/, "")}.${hash}`;
}

/** Names of Events that this process has posted, so that saying it again costs no request. Forgets the oldest. */
export class PostedEvents {
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    this.#names.add(name);
    const [oldest] = this.#names;
    if (this.#names.size > REMEMBERED && oldest !== undefined) this.#names.delete(oldest);
  }
}
