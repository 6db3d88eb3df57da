/**
 * May this user send this request? A pure answer from the raw method and target and the table of permissions.
 * The target is never normalised: what isn't written exactly as the API server would write it is refused, so that
 * the relay and the API server can't read one path in two ways.
 */
import { type Permission, type Role, resourceName, type Verb } from "./permissions.ts";

export interface AskedRequest {
  readonly method: string;
  /** As it stood on the request line. */
  readonly target: string;
  /** Whether an Upgrade header came along (exec, attach, port-forward, WebSocket). */
  readonly upgrade: boolean;
}

export type Refusal = "upgrade" | "target" | "watch-parameter" | "method" | "not-granted";

export type Authorization =
  | { readonly kind: "allowed"; readonly verb: Verb; readonly resource: string }
  | { readonly kind: "refused"; readonly reason: Refusal; readonly because: string };

interface Resource {
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly resource: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

const SEGMENT = "[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?";
/** https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris, lower-case and without any escape. */
const RESOURCE_PATH = new RegExp(
  `^/(?:api/(?<coreVersion>v1)|apis/(?<group>${SEGMENT})/(?<version>v[a-z0-9]+))` +
    `(?:/namespaces/(?<namespace>${SEGMENT}))?` +
    `/(?<resource>[a-z]+)(?:/(?<name>${SEGMENT})(?:/(?<subresource>[a-z]+))?)?$`,
);
/**
 * Printable ASCII without what URL parsers disagree about: fragment, backslash, quotes, brackets, semicolon, and a
 * second `?` at the start, which URLSearchParams drops and Go takes for a part of the first key.
 */
const QUERY = /^(?!\?)[A-Za-z0-9\-._~%!$&'()*+,=:@/?]*$/;

export function authorize(roles: readonly Role[], user: string, request: AskedRequest): Authorization {
  if (request.upgrade) return refused("upgrade", "upgraded connections are never passed on");

  const queryAt = request.target.indexOf("?");
  const path = queryAt === -1 ? request.target : request.target.slice(0, queryAt);
  const query = queryAt === -1 ? "" : request.target.slice(queryAt + 1);

  const resource = readPath(path);
  if (resource === undefined) return refused("target", "the path is not that of a Kubernetes resource");
  if (!QUERY.test(query)) return refused("target", "the query holds a character that must be escaped, or begins twice");

  const watch = readWatch(query);
  if (watch === undefined) return refused("watch-parameter", "the watch parameter must be one of true, 1, false, 0");

  const verb = verbOf(request.method, resource, watch);
  if (verb === undefined) return refused("method", "no known verb has this method and path");

  const granted = roles
    .filter((role) => role.users.includes(user))
    .flatMap((role) => role.permissions)
    .find((permission) => covers(permission, resource, verb));
  if (granted === undefined) return refused("not-granted", `${verb} ${resourceName(named(resource))} is not granted`);
  return { kind: "allowed", verb, resource: resourceName(granted) };
}

function readPath(path: string): Resource | undefined {
  if (path.includes("..")) return undefined;
  const groups = RESOURCE_PATH.exec(path)?.groups;
  if (groups?.resource === undefined) return undefined;
  return {
    group: groups.group ?? "",
    version: groups.coreVersion ?? groups.version ?? "",
    namespace: groups.namespace,
    resource: groups.resource,
    name: groups.name,
    subresource: groups.subresource,
  };
}

/** The API server takes any value but "false" and "0" for true; here only the plain ones are known. */
function readWatch(query: string): boolean | undefined {
  const values = new URLSearchParams(query).getAll("watch");
  if (values.length === 0) return false;
  if (values.length > 1) return undefined;
  if (values[0] === "true" || values[0] === "1") return true;
  return values[0] === "false" || values[0] === "0" ? false : undefined;
}

/** https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb */
function verbOf(method: string, resource: Resource, watch: boolean): Verb | undefined {
  const { name, subresource } = resource;
  if (watch) return method === "GET" && name === undefined ? "watch" : undefined;
  if (name === undefined) {
    if (method === "GET") return "list";
    return method === "POST" ? "create" : undefined;
  }
  if (method === "GET") return "get";
  if (method === "PUT") return "update";
  if (method === "PATCH") return "patch";
  if (method === "DELETE") return "delete";
  return method === "POST" && subresource !== undefined ? "create" : undefined;
}

function covers(permission: Permission, asked: Resource, verb: Verb): boolean {
  return (
    permission.group === asked.group &&
    permission.version === asked.version &&
    permission.resource === asked.resource &&
    permission.subresource === asked.subresource &&
    (permission.name === undefined || permission.name === asked.name) &&
    permission.verbs.includes(verb) &&
    scopeFits(permission, asked, verb)
  );
}

function scopeFits(permission: Permission, asked: Resource, verb: Verb): boolean {
  if (!permission.namespaced) return asked.namespace === undefined;
  if (permission.namespace !== undefined) return asked.namespace === permission.namespace;
  return asked.namespace !== undefined || verb === "list" || verb === "watch";
}

function named(asked: Resource): Pick<Permission, "resource" | "subresource"> {
  return asked.subresource === undefined
    ? { resource: asked.resource }
    : { resource: asked.resource, subresource: asked.subresource };
}

function refused(reason: Refusal, because: string): Authorization {
  return { kind: "refused", reason, because };
}
