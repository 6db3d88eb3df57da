/** Objects of one resource in the cluster model: each write gives a new version, each delete may carry preconditions. */
import { randomUUID } from "node:crypto";
import { alreadyExists, conflict, notFound } from "./refusal.ts";

/** What the API server gives every stored object. */
export interface Stored {
  /** Empty where objects have none. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export class StoredObjects<T extends object> {
  readonly #objects = new Map<string, T & Stored>();
  readonly #resource: string;
  readonly #nextVersion: () => string;

  constructor(resource: string, nextVersion: () => string) {
    this.#resource = resource;
    this.#nextVersion = nextVersion;
  }

  list(): readonly (T & Stored)[] {
    return [...this.#objects.values()];
  }

  find(namespace: string, name: string): (T & Stored) | undefined {
    return this.#objects.get(keyOf(namespace, name));
  }

  /** What is there keeps its UID. */
  put(object: T & Pick<Stored, "namespace" | "name">): T & Stored {
    const uid = this.find(object.namespace, object.name)?.uid ?? randomUUID();
    const stored = { ...object, uid, resourceVersion: this.#nextVersion() };
    this.#objects.set(keyOf(object.namespace, object.name), stored);
    return stored;
  }

  // What requests do. They throw a Refusal.

  get(namespace: string, name: string): T & Stored {
    const stored = this.find(namespace, name);
    if (stored === undefined) throw notFound(this.#resource, name);
    return stored;
  }

  create(object: T & Pick<Stored, "namespace" | "name">): T & Stored {
    if (this.find(object.namespace, object.name)) throw alreadyExists(this.#resource, object.name);
    return this.put(object);
  }

  replace(object: T & Pick<Stored, "namespace" | "name">, resourceVersion: string | undefined): T & Stored {
    const stored = this.get(object.namespace, object.name);
    const isOld = resourceVersion !== undefined && resourceVersion !== stored.resourceVersion;
    if (isOld) throw conflict(`${this.#resource} "${object.name}"`, "the object has been modified");
    return this.put(object);
  }

  delete(namespace: string, name: string, preconditions: Preconditions = {}): void {
    const stored = this.get(namespace, name);
    requirePreconditions(`${this.#resource} "${name}"`, stored, preconditions);
    this.#objects.delete(keyOf(namespace, name));
  }
}

/** In the real server's words. */
export function requirePreconditions(
  object: string,
  stored: Pick<Stored, "uid" | "resourceVersion">,
  { uid = stored.uid, resourceVersion = stored.resourceVersion }: Preconditions,
): void {
  if (uid !== stored.uid)
    throw conflict(object, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.uid}`);
  if (resourceVersion !== stored.resourceVersion) {
    const because = `ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${stored.resourceVersion}`;
    throw conflict(object, `Precondition failed: ${because}`);
  }
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
