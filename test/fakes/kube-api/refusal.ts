/** How the embedded API says no: the `metav1.Status` that the real API server sends, word for word where it counts. */

interface RefusalParts {
  readonly code: number;
  /** The real server gives some answers none. */
  readonly reason?: string;
  readonly message: string;
  readonly causes?: readonly { readonly reason: string; readonly message: string; readonly field?: string }[];
}

export class Refusal extends Error {
  readonly code: number;
  /** The body of the answer. */
  readonly body: object;

  constructor({ causes, ...parts }: RefusalParts) {
    super(parts.message);
    this.code = parts.code;
    this.body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...parts, details: { causes } };
  }
}

export function badRequest(message: string): Refusal {
  return new Refusal({ code: 400, reason: "BadRequest", message });
}

export function notFound(resource: string, name: string): Refusal {
  return new Refusal({ code: 404, reason: "NotFound", message: `${resource} "${name}" not found` });
}

export function alreadyExists(resource: string, name: string): Refusal {
  return new Refusal({ code: 409, reason: "AlreadyExists", message: `${resource} "${name}" already exists` });
}

export function conflict(object: string, because: string): Refusal {
  const message = `Operation cannot be fulfilled on ${object}: ${because}`;
  return new Refusal({ code: 409, reason: "Conflict", message });
}

export function invalid(message: string, field = ""): Refusal {
  const causes = [{ reason: "FieldValueInvalid", message, field }];
  return new Refusal({ code: 422, reason: "Invalid", message, causes });
}

export function namespaceTerminating(resource: string, name: string, namespace: string): Refusal {
  const because = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `${resource} "${name}" is forbidden: ${because}`;
  const causes = [{ reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated` }];
  return new Refusal({ code: 403, reason: "Forbidden", message, causes });
}

export function blockedByBudget(because: string): Refusal {
  const message = "Cannot evict pod as it would violate the pod's disruption budget.";
  const causes = [{ reason: "DisruptionBudget", message: because }];
  return new Refusal({ code: 429, reason: "TooManyRequests", message, causes });
}

export function severalBudgets(): Refusal {
  const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
  return new Refusal({ code: 500, message });
}
