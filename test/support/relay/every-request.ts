/** Requests that somebody might send, each with what a SubjectAccessReview calls it: to compare the relay with RBAC. */
import { type Permission, type Role, resourceName, type Verb } from "../../../relay/permissions.ts";

export interface PossibleRequest {
  readonly method: string;
  readonly target: string;
  /** As a SubjectAccessReview names it. */
  readonly attributes: object;
}

type Resource = Pick<Permission, "group" | "version" | "resource" | "subresource" | "namespaced">;

const OTHERS: readonly Resource[] = [
  ...["secrets", "serviceaccounts"].map((resource) => ({ ...core(resource), namespaced: true })),
  ...["exec", "log", "binding"].map((subresource) => ({ ...core("pods"), namespaced: true, subresource })),
  { ...core("nodes"), namespaced: false, subresource: "proxy" },
  { ...core("namespaces"), namespaced: false },
  { group: "apps", version: "v1", resource: "deployments", namespaced: true },
  { group: "rbac.authorization.k8s.io", version: "v1", resource: "clusterroles", namespaced: false },
];

/** Each verb on all that any user may do something with and on some that nobody may, in and out of the right places. */
export function everyRequest(roles: readonly Role[]): readonly PossibleRequest[] {
  const granted = roles.flatMap((role) => role.permissions);
  const resources = [...granted, ...OTHERS].map(
    ({ group, version, resource, subresource, namespaced }): Resource => ({
      ...{ group, version, resource, namespaced },
      ...(subresource === undefined ? {} : { subresource }),
    }),
  );
  const distinct = [...new Map(resources.map((one) => [`${one.group}/${resourceName(one)}`, one])).values()];
  return distinct.flatMap((resource) =>
    (resource.namespaced ? [undefined, "nodekeeper", "kube-node-lease", "default"] : [undefined]).flatMap((namespace) =>
      requestsFor(resource, namespace),
    ),
  );
}

function requestsFor(resource: Resource, namespace: string | undefined): readonly PossibleRequest[] {
  const of = (verb: Verb, method: string, name?: string, query = ""): PossibleRequest => ({
    method,
    target: targetOf(resource, namespace, name) + query,
    attributes: {
      ...{ verb, group: resource.group, version: resource.version, resource: resource.resource },
      ...{ subresource: resource.subresource, namespace, name },
    },
  });
  const onNames = ["fencing", "other"].flatMap((name) => [
    of("get", "GET", name),
    of("update", "PUT", name),
    of("patch", "PATCH", name),
    of("delete", "DELETE", name),
    ...(resource.subresource === undefined ? [] : [of("create", "POST", name)]),
  ]);
  if (resource.subresource !== undefined) return namespace === undefined && resource.namespaced ? [] : onNames;
  const lists = [of("list", "GET"), of("watch", "GET", undefined, "?watch=true")];
  // Only lists and watches of a namespaced resource span namespaces.
  if (resource.namespaced && namespace === undefined) return lists;
  return [...lists, of("create", "POST"), ...onNames];
}

function targetOf({ group, version, resource, subresource }: Resource, namespace?: string, name?: string): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const where = namespace === undefined ? "" : `/namespaces/${namespace}`;
  return [root + where, resource, name, subresource].filter((part) => part !== undefined).join("/");
}

function core(resource: string) {
  return { group: "", version: "v1", resource };
}
