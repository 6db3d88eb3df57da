/**
 * The part of the Kubernetes API that nodekeeper uses, as a function from request to answer over the cluster model.
 * It knows no socket: server.ts serves it over TLS, memory-cluster.ts calls it in the same process.
 */
import { podName } from "../../../shared/domain/pod.ts";
import { event, eviction, parseBody, parseDeleteBody, parseDeletion, parseNodePatch } from "./bodies.ts";
import type { ClusterModel } from "./cluster-model.ts";
import { budgetDocument, eventDocument, nodeDocument, podDocument } from "./documents.ts";
import { page } from "./page.ts";
import { invalidNode, nodeWasModified, notFound, Refusal } from "./refusal.ts";
import { labelFilter, nodeNameOf } from "./selectors.ts";

export interface ApiRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly body: string;
}

export interface ApiAnswer {
  readonly code: number;
  readonly body: object;
}

export interface KubeApi {
  answer(request: ApiRequest): ApiAnswer;
  /** How often each verb and resource was asked for, refusals too: `create pods/eviction`, `list nodes`. */
  readonly counts: ReadonlyMap<string, number>;
}

interface Call {
  readonly model: ClusterModel;
  readonly namespace: string;
  readonly name: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

interface Route {
  readonly method: string;
  readonly path: URLPattern;
  readonly does: string;
  readonly answer: (call: Call) => ApiAnswer;
}

const POD = "/api/v1/namespaces/:namespace/pods/:name";
const BUDGETS = "/apis/policy/v1/namespaces/:namespace/poddisruptionbudgets";
const EVENTS = "/api/v1/namespaces/:namespace/events";

const ROUTES: readonly Route[] = [
  route("GET", "/api/v1/nodes", "list nodes", listNodes),
  route("GET", "/api/v1/nodes/:name", "get nodes", ({ model, name }) => ok(nodeDocument(existingNode(model, name)))),
  route("PATCH", "/api/v1/nodes/:name", "patch nodes", patchNode),
  route("GET", "/api/v1/pods", "list pods", listPods),
  route("GET", "/api/v1/namespaces/:namespace/pods", "list pods", listPods),
  route("DELETE", POD, "delete pods", deletePod),
  route("POST", `${POD}/eviction`, "create pods/eviction", evictPod),
  route("GET", BUDGETS, "list poddisruptionbudgets", listBudgets),
  route("GET", EVENTS, "list events", listEvents),
  route("POST", EVENTS, "create events", createEvent),
  route("GET", "/version", "get version", () => ok({ major: "1", minor: "36", gitVersion: "v1.36.0-embedded" })),
  route("GET", "/readyz", "get readyz", () => ok({})),
];

export function kubeApi(model: ClusterModel): KubeApi {
  const counts = new Map<string, number>();
  return {
    counts,
    answer({ method, target, body }) {
      const { pathname, searchParams: query } = new URL(target, "https://kubernetes.default");
      try {
        for (const { method: verb, path, does, answer } of ROUTES) {
          const match = verb === method ? path.exec({ pathname }) : null;
          if (match === null) continue;
          counts.set(does, (counts.get(does) ?? 0) + 1);
          const { namespace = "", name = "" } = match.pathname.groups;
          return answer({
            model,
            namespace: decodeURIComponent(namespace),
            name: decodeURIComponent(name),
            query,
            body,
          });
        }
        throw notFound("paths", pathname);
      } catch (error) {
        if (error instanceof Refusal) return { code: error.code, body: error.status };
        throw error;
      }
    },
  };
}

function route(method: string, pathname: string, does: string, answer: Route["answer"]): Route {
  return { method, path: new URLPattern({ pathname }), does, answer };
}

function listNodes({ model, query }: Call): ApiAnswer {
  const matches = labelFilter(query.get("labelSelector") ?? undefined);
  const items = model.nodes().filter((node) => matches(node.labels));
  return ok(page(query, { kind: "NodeList", items, keyOf: ({ name }) => name, write: nodeDocument }));
}

function patchNode({ model, name, body }: Call): ApiAnswer {
  const node = existingNode(model, name);
  const { uid, resourceVersion, change } = parseNodePatch(name, body);
  if (resourceVersion !== undefined && resourceVersion !== node.resourceVersion) throw nodeWasModified(name);
  if (uid !== undefined && uid !== node.uid) throw invalidNode(name, "metadata.uid", `"${uid}": field is immutable`);
  return ok(nodeDocument(model.changeNode(node, change)));
}

function listPods({ model, namespace, query }: Call): ApiAnswer {
  const matches = labelFilter(query.get("labelSelector") ?? undefined);
  const nodeName = nodeNameOf(query.get("fieldSelector") ?? undefined);
  const items = model.storedPods().filter(({ pod }) => {
    if (namespace !== "" && pod.namespace !== namespace) return false;
    return matches(pod.labels) && (nodeName === undefined || pod.nodeName === nodeName);
  });
  return ok(page(query, { kind: "PodList", items, keyOf: ({ pod }) => podName(pod), write: podDocument }));
}

function deletePod({ model, namespace, name, body }: Call): ApiAnswer {
  model.deletePod(namespace, name, parseDeleteBody(body));
  return ok({ kind: "Status", apiVersion: "v1", status: "Success" });
}

function evictPod({ model, namespace, name, body }: Call): ApiAnswer {
  model.evictPod(namespace, name, parseDeletion(parseBody(eviction, body).deleteOptions));
  return created({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 });
}

function listBudgets({ model, namespace, query }: Call): ApiAnswer {
  const items = model.budgets().filter((budget) => budget.namespace === namespace);
  const kind = "PodDisruptionBudgetList";
  return ok(page(query, { kind, items, keyOf: ({ name }) => name, write: budgetDocument }));
}

/** The functions never do; people do, and the demo. */
function listEvents({ model, namespace, query }: Call): ApiAnswer {
  const items = model.events().filter((one) => one.namespace === namespace);
  return ok(page(query, { kind: "EventList", items, keyOf: ({ name }) => name, write: eventDocument }));
}

function createEvent({ model, namespace, body }: Call): ApiAnswer {
  const { metadata, involvedObject, message, type, reason } = parseBody(event, body);
  const stored = { namespace, name: metadata.name, regarding: involvedObject, note: message, type, reason };
  model.createEvent(stored);
  return created(eventDocument(stored));
}

function existingNode(model: ClusterModel, name: string) {
  const node = model.node(name);
  if (node === undefined) throw notFound("nodes", name);
  return node;
}

function ok(body: object): ApiAnswer {
  return { code: 200, body };
}

function created(body: object): ApiAnswer {
  return { code: 201, body };
}
