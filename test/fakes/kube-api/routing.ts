/** How the embedded API finds who answers a request. */
import type { ClusterModel } from "./cluster-model.ts";

export interface Call {
  readonly model: ClusterModel;
  /** Empty where the path has none. */
  readonly namespace: string;
  readonly name: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

/** Gives the body of a success, or throws a Refusal. */
export type Handler = (call: Call) => object;

export const SUCCESS = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };

/** @param does verb and resource, as requests are counted. */
export function route(method: string, pathname: string, does: string, handle: Handler) {
  return { method, path: new URLPattern({ pathname }), does, handle };
}
