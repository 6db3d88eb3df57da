/** How the embedded API says no: the `metav1.Status` that the real API server sends, word for word where it counts. */

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

interface RefusalParts {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: object;
}

export class Refusal extends Error {
  readonly code: number;
  /** The body of the answer. */
  readonly status: object;

  constructor({ code, reason, message, details }: RefusalParts) {
    super(message);
    this.code = code;
    this.status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, details, code };
  }
}

export function notFound(resource: string, name: string): Refusal {
  const details = { name, kind: resource };
  return new Refusal({ code: 404, reason: "NotFound", message: `${resource} "${name}" not found`, details });
}

export function alreadyExists(resource: string, name: string): Refusal {
  const details = { name, kind: resource };
  return new Refusal({ code: 409, reason: "AlreadyExists", message: `${resource} "${name}" already exists`, details });
}

export function nodeWasModified(name: string): Refusal {
  const because = "the object has been modified; please apply your changes to the latest version and try again";
  return conflict("nodes", name, because);
}

export function otherUid(name: string, asked: string, actual: string): Refusal {
  const because = `the UID in the precondition (${asked}) does not match the UID in record (${actual}). The object might have been deleted and then recreated`;
  return conflict("Pod", name, because);
}

function conflict(kind: string, name: string, because: string): Refusal {
  const message = `Operation cannot be fulfilled on ${kind} "${name}": ${because}`;
  return new Refusal({ code: 409, reason: "Conflict", message, details: { name, kind } });
}

export function invalidNode(name: string, field: string, because: string): Refusal {
  const causes: StatusCause[] = [{ reason: "FieldValueInvalid", message: `Invalid value: ${because}`, field }];
  const message = `Node "${name}" is invalid: ${field}: Invalid value: ${because}`;
  return new Refusal({ code: 422, reason: "Invalid", message, details: { name, kind: "Node", causes } });
}

export function namespaceTerminating(resource: string, name: string, namespace: string): Refusal {
  const message = `${resource} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = { reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated` };
  const causes: StatusCause[] = [{ ...cause, field: "metadata.namespace" }];
  return new Refusal({ code: 403, reason: "Forbidden", message, details: { name, kind: resource, causes } });
}

export function blockedByBudget(because: string): Refusal {
  const message = "Cannot evict pod as it would violate the pod's disruption budget.";
  const causes: StatusCause[] = [{ reason: "DisruptionBudget", message: because }];
  return new Refusal({ code: 429, reason: "TooManyRequests", message, details: { causes } });
}

/** The real one has neither reason nor details. */
export function severalBudgets(): Refusal {
  const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
  return new Refusal({ code: 500, message });
}

export function badRequest(message: string): Refusal {
  return new Refusal({ code: 400, reason: "BadRequest", message });
}
