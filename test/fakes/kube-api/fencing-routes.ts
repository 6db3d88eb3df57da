/** The part of the embedded API that fencing alone uses: Leases, attachments, its ConfigMap, and the end of a Node. */
import * as z from "zod";
import { deletion, parseBody } from "./bodies.ts";
import { configMapDocument, leaseDocument, volumeAttachmentDocument } from "./documents.ts";
import { list } from "./lists.ts";
import { type Call, type Handler, route, SUCCESS } from "./routing.ts";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/:namespace/leases";
const ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments";
const CONFIG_MAPS = "/api/v1/namespaces/:namespace/configmaps";

const configMapBody = z.object({
  metadata: z.object({ name: z.string().min(1), resourceVersion: z.string().optional() }),
  data: z.record(z.string(), z.string()).default({}),
});

export const FENCING_ROUTES = [
  route("DELETE", "/api/v1/nodes/:name", "delete nodes", ({ model, name, body }) => {
    model.deleteNode(name, parseBody(deletion, body));
    return SUCCESS;
  }),
  route("GET", LEASES, "list leases", (call) => list(call, call.model.leases.list(), leaseDocument)),
  route("GET", `${LEASES}/:name`, "get leases", ({ model, namespace, name }) =>
    leaseDocument(model.leases.get(namespace, name)),
  ),
  route("GET", ATTACHMENTS, "list volumeattachments", (call) =>
    list(call, call.model.attachments.list(), volumeAttachmentDocument),
  ),
  route("DELETE", `${ATTACHMENTS}/:name`, "delete volumeattachments", ({ model, name, body }) => {
    model.attachments.delete("", name, parseBody(deletion, body));
    return SUCCESS;
  }),
  route("GET", `${CONFIG_MAPS}/:name`, "get configmaps", ({ model, namespace, name }) =>
    configMapDocument(model.configMaps.get(namespace, name)),
  ),
  route(
    "POST",
    CONFIG_MAPS,
    "create configmaps",
    configMapWriter((call, map) => call.model.configMaps.create(map)),
  ),
  route(
    "PUT",
    `${CONFIG_MAPS}/:name`,
    "update configmaps",
    configMapWriter((call, map, version) => call.model.configMaps.replace(map, version)),
  ),
];

type Written = ReturnType<Call["model"]["configMaps"]["put"]>;
type ConfigMapSeed = Parameters<Call["model"]["configMaps"]["put"]>[0];

function configMapWriter(write: (call: Call, map: ConfigMapSeed, version: string | undefined) => Written): Handler {
  return (call) => {
    const { metadata, data } = parseBody(configMapBody, call.body);
    const map = { namespace: call.namespace, name: metadata.name, data };
    return configMapDocument(write(call, map, metadata.resourceVersion));
  };
}
