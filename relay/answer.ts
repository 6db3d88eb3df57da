/** The relay's own answers, in the shape of a Kubernetes Status, so that any Kubernetes client understands them. */
import type { ServerResponse } from "node:http";

const REASONS = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  411: "LengthRequired",
  413: "RequestEntityTooLarge",
  429: "TooManyRequests",
  502: "BadGateway",
  503: "ServiceUnavailable",
  504: "Timeout",
} as const;

export type OwnStatus = keyof typeof REASONS;

/** Says no; 429 and 503 come with a Retry-After of one second. Does nothing once an answer has begun. */
export function answerStatus(response: ServerResponse, code: OwnStatus, message: string): void {
  if (response.headersSent) return;
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason: REASONS[code] };
  const body = JSON.stringify({ ...status, code });
  response.writeHead(code, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(code === 429 || code === 503 ? { "retry-after": "1" } : {}),
    // What is left of an oversized body isn't waited for.
    ...(code === 411 || code === 413 ? { connection: "close" } : {}),
  });
  response.end(body);
}
