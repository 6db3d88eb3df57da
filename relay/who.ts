/** From a request's bearer token to a Kubernetes user, or to the answer that whoever it is gets instead. */
import type { IncomingMessage } from "node:http";
import type { OwnStatus } from "./answer.ts";
import type { IdentityMap } from "./identities.ts";
import { sourceOf } from "./source.ts";
import type { Verify } from "./verify.ts";

export interface Refusal {
  readonly status: OwnStatus;
  /** One of few, for metrics. */
  readonly reason: string;
  /** For the caller and the log; holds no secret. */
  readonly because: string;
}

export type Who = { readonly kind: "user"; readonly user: string } | ({ readonly kind: "nobody" } & Refusal);

export async function whoIs(request: IncomingMessage, verify: Verify, identities: IdentityMap): Promise<Who> {
  const token = /^Bearer ([!-~]+)$/i.exec(request.headers.authorization ?? "")?.[1];
  if (token === undefined) return nobody(401, "no-token", "a bearer token is needed");

  const verdict = await verify(token, sourceOf(request.socket));
  switch (verdict.kind) {
    case "refused":
      return nobody(401, "token", `the token was refused: ${verdict.because}`);
    case "limited":
      return nobody(429, "source-limit", verdict.because);
    case "unavailable":
      return nobody(503, "sts", `the token could not be verified: ${verdict.because}`);
    case "known": {
      const user = identities.get(verdict.identity);
      if (user === undefined) return nobody(401, "identity", `${verdict.identity} is nobody here`);
      return { kind: "user", user };
    }
  }
}

function nobody(status: OwnStatus, reason: string, because: string): Who {
  return { kind: "nobody", status, reason, because };
}
