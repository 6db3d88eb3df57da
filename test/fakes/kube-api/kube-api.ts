/**
 * The part of the Kubernetes API that nodekeeper uses, as a function from request to answer over the cluster model.
 * It knows no socket: server.ts serves it over TLS, memory-cluster.ts calls it in the same process.
 */
import { deletion, event, eviction, nodePatch, parseBody } from "./bodies.ts";
import type { ClusterModel } from "./cluster-model.ts";
import { budgetDocument, eventDocument, nodeDocument, podDocument } from "./documents.ts";
import { FENCING_ROUTES } from "./fencing-routes.ts";
import { list } from "./lists.ts";
import { conflict, invalid, notFound, Refusal } from "./refusal.ts";
import { type Call, type Handler, route, SUCCESS } from "./routing.ts";

export interface KubeApi {
  /** @param request `target`: path and query. */
  answer(request: { method: string; target: string; body: string }): { readonly code: number; readonly body: object };
  /** How often each verb and resource was asked for, refusals too: `create pods/eviction`, `list nodes`. */
  readonly counts: ReadonlyMap<string, number>;
}

const NAMESPACE = "/api/v1/namespaces/:namespace";
const BUDGETS = "/apis/policy/v1/namespaces/:namespace/poddisruptionbudgets";

const listPods: Handler = (call) => list(call, call.model.pods(), podDocument);

const ROUTES = [
  route("GET", "/api/v1/nodes", "list nodes", (call) => list(call, call.model.nodes(), nodeDocument)),
  route("GET", "/api/v1/nodes/:name", "get nodes", (call) => nodeDocument(existingNode(call))),
  route("PATCH", "/api/v1/nodes/:name", "patch nodes", patchNode),
  route("GET", "/api/v1/pods", "list pods", listPods),
  route("GET", `${NAMESPACE}/pods`, "list pods", listPods),
  route("DELETE", `${NAMESPACE}/pods/:name`, "delete pods", deletePod),
  route("POST", `${NAMESPACE}/pods/:name/eviction`, "create pods/eviction", evictPod),
  route("GET", BUDGETS, "list poddisruptionbudgets", (call) => list(call, call.model.budgets(), budgetDocument)),
  // The functions never do; people do, and the demo.
  route("GET", `${NAMESPACE}/events`, "list events", (call) => list(call, call.model.events(), eventDocument)),
  route("POST", `${NAMESPACE}/events`, "create events", createEvent),
  route("GET", "/readyz", "get readyz", () => SUCCESS),
  ...FENCING_ROUTES,
];

export function kubeApi(model: ClusterModel): KubeApi {
  const counts = new Map<string, number>();
  return {
    counts,
    answer({ method, target, body }) {
      const { pathname, searchParams: query } = new URL(target, "https://kubernetes.default");
      try {
        const found = ROUTES.find((one) => one.method === method && one.path.test({ pathname }));
        if (found === undefined) throw notFound("paths", pathname);
        counts.set(found.does, (counts.get(found.does) ?? 0) + 1);
        const { namespace = "", name = "" } = found.path.exec({ pathname })?.pathname.groups ?? {};
        const answer = found.handle({ model, namespace, name, query, body });
        return { code: method === "POST" ? 201 : 200, body: answer };
      } catch (error) {
        if (error instanceof Refusal) return error;
        throw error;
      }
    },
  };
}

function existingNode({ model, name }: Call) {
  const node = model.node(name);
  if (node === undefined) throw notFound("nodes", name);
  return node;
}

function patchNode(call: Call): object {
  const node = existingNode(call);
  const { metadata, spec } = parseBody(nodePatch, call.body);
  const { uid = node.uid, resourceVersion = node.resourceVersion, ...keys } = metadata;
  if (resourceVersion !== node.resourceVersion) throw conflict(`nodes "${node.name}"`, "the object has been modified");
  if (uid !== node.uid) throw invalid(`metadata.uid: Invalid value: "${uid}": field is immutable`, "metadata.uid");
  return nodeDocument(call.model.changeNode(node, { ...keys, ...spec }));
}

function deletePod({ model, namespace, name, body }: Call): object {
  model.deletePod(namespace, name, parseBody(deletion, body));
  return SUCCESS;
}

function evictPod({ model, namespace, name, body }: Call): object {
  model.evictPod(namespace, name, parseBody(eviction, body).deleteOptions);
  return SUCCESS;
}

function createEvent({ model, body }: Call): object {
  const stored = parseBody(event, body);
  model.createEvent(stored);
  return eventDocument(stored);
}
