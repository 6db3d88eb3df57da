/** What the port `Cluster` asks about Nodes, as requests to the Kubernetes API. */
import type { CoreV1Api } from "@kubernetes/client-node/dist/gen/index.js";
import { setHeaderOptions } from "@kubernetes/client-node/dist/middleware.js";
import { PatchStrategy } from "@kubernetes/client-node/dist/patch.js";
import { INSTANCE_ID_LABEL } from "../domain/keys.ts";
import type { Cluster, NodePatchAnswer } from "../ports/cluster.ts";
import { asClusterError, asking, codeOf, describeFailure, type Failure, failureOf } from "./kube-answers.ts";
import { toMergePatch, toNode } from "./kube-objects.ts";
import { listPages } from "./kube-pages.ts";

type NodeRequests = Pick<Cluster, "listNodesByInstanceId" | "listNodes" | "findNode" | "patchNode">;

export function nodeRequests(core: CoreV1Api): NodeRequests {
  return {
    listNodesByInstanceId: (instanceIds) =>
      asking("listing nodes by instance id", async () => {
        if (instanceIds.length === 0) return [];
        const labelSelector = `${INSTANCE_ID_LABEL} in (${instanceIds.join(",")})`;
        const { items } = await core.listNode({ labelSelector });
        return items.map(toNode);
      }),

    listNodes: () => asking("listing nodes", () => listPages((page) => core.listNode(page), toNode)),

    async findNode(name) {
      try {
        return toNode(await core.readNode({ name }));
      } catch (error) {
        if (codeOf(error) === 404) return undefined;
        throw asClusterError(error, `reading node ${name}`);
      }
    },

    async patchNode(node, change, { unconditional } = { unconditional: false }) {
      const body = toMergePatch(node, change, unconditional);
      // The client's default would be the other kind of patch, a list of operations.
      const asMerge = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
      try {
        return { kind: "patched", node: toNode(await core.patchNode({ name: node.name, body }, asMerge)) };
      } catch (error) {
        return readPatchFailure(error, node.name);
      }
    },
  };
}

function readPatchFailure(error: unknown, name: string): NodePatchAnswer {
  const failure = failureOf(error);
  switch (codeOf(error)) {
    case 404:
      return { kind: "gone" };
    case 409:
      return { kind: "conflict" };
    case 403:
    case 422:
      if (isOtherNode(failure)) return { kind: "conflict" };
      return { kind: "refused", because: describeFailure(failure) };
    default:
      throw asClusterError(error, `patching node ${name}`);
  }
}

/** The Node has been made anew under the same name: the patch's UID then looks like an attempt to change it. */
function isOtherNode(failure: Failure): boolean {
  return failure.kind === "answer" && failure.causes.some(({ field }) => field === "metadata.uid");
}
