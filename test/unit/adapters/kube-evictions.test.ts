/** Answers to evictions and deletions, word for word as the API server gives them, and what they mean to us. */
import { ApiException } from "@kubernetes/client-node/dist/gen/index.js";
import { describe, expect, test } from "vitest";
import { readDeletionFailure, readEvictionFailure } from "../../../shared/adapters/kube-evictions.ts";
import { RequestUnanswered } from "../../../shared/adapters/kube-transport.ts";

function answer(code: number, body: object | string, headers: Record<string, string> = {}): unknown {
  return new ApiException(code, "", typeof body === "string" ? body : JSON.stringify(body), headers);
}

function status(message: string, details: object = {}): object {
  return { kind: "Status", apiVersion: "v1", status: "Failure", message, details };
}

function budgetSays(message: string): object {
  const causes = [{ reason: "DisruptionBudget", message }];
  return status("Cannot evict pod as it would violate the pod's disruption budget.", { causes });
}

const otherUid = status(
  'Operation cannot be fulfilled on Pod "web": the UID in the precondition (a) does not match the UID in record (b).',
);

describe("an eviction", () => {
  test.each([
    "The disruption budget web-pdb needs 1 healthy pods and has 1 currently",
    "The disruption budget web-pdb is still being processed by the server.",
    "The disruption budget web-pdb does not allow evicting pods currently because it failed sync: no controller",
  ])("is blocked by a named budget when the answer says: %s", (because) => {
    expect(readEvictionFailure(answer(429, budgetSays(because)))).toEqual({
      kind: "blocked",
      budget: "web-pdb",
      because,
    });
  });

  test("is blocked, and not throttled, even if the budget's refusal says when to come back", () => {
    const said = answer(429, budgetSays("The disruption budget b is still being processed."), { "retry-after": "10" });
    expect(readEvictionFailure(said)).toMatchObject({ kind: "blocked", budget: "b" });
  });

  test("is blocked by a budget without a name when the sentence is one that we don't know", () => {
    expect(readEvictionFailure(answer(429, budgetSays("Not now.")))).toMatchObject({
      kind: "blocked",
      budget: undefined,
    });
  });

  test.each([
    ["gone", 404, status('pods "web" not found')],
    ["gone", 409, otherUid],
    ["unanswered", 409, status("the object has been modified")],
    ["throttled", 429, "Too many requests, please try again later.\n"],
    ["namespace-terminating", 403, status("forbidden", { causes: [{ reason: "NamespaceTerminating", message: "" }] })],
    ["refused", 403, status('pods "web" is forbidden: User "x" cannot create resource "pods/eviction"')],
    [
      "blocked",
      500,
      status("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."),
    ],
    ["unanswered", 500, status("Internal error occurred: failed calling webhook")],
    ["unanswered", 503, "<html>no healthy upstream</html>"],
    ["unanswered", 504, status("couldn't update PodDisruptionBudget due to conflicts")],
    ["refused", 400, status("not an Eviction object")],
    ["refused", 401, status("Unauthorized")],
    ["refused", 422, status("Pod is invalid")],
  ])("is %s when the answer is %i", (kind, code, body) => {
    expect(readEvictionFailure(answer(code, body))).toMatchObject({ kind });
  });

  test("is unanswered when nothing came back", () => {
    const because = "POST /api was not answered: socket hang up";
    expect(readEvictionFailure(new RequestUnanswered(because))).toEqual({ kind: "unanswered", because });
  });

  test("says what the server said, cut to a length that fits a log line", () => {
    const said = readEvictionFailure(answer(403, status(`forbidden: ${"x".repeat(5_000)}`)));
    expect(said).toMatchObject({ kind: "refused", because: expect.stringMatching(/^403 forbidden: x{200,}…$/) });
    expect(JSON.stringify(said).length).toBeLessThan(400);
  });
});

describe("a deletion", () => {
  test.each([
    ["gone", 404, status('pods "web" not found')],
    ["gone", 409, otherUid],
    ["throttled", 429, "Too many requests, please try again later.\n"],
    ["unanswered", 500, status("etcdserver: request timed out")],
    ["refused", 403, status('pods "web" is forbidden')],
  ])("is %s when the answer is %i", (kind, code, body) => {
    expect(readDeletionFailure(answer(code, body))).toMatchObject({ kind });
  });
});

describe("a busy server", () => {
  test.each([
    ["7", 7],
    ["0", 1],
    ["86400", 60],
    ["Wed, 21 Oct 2026 07:28:00 GMT", 1],
  ])("that says Retry-After: %s is asked again after %i s", (header, retryAfterSeconds) => {
    expect(readDeletionFailure(answer(429, "busy", { "retry-after": header }))).toEqual({
      kind: "throttled",
      retryAfterSeconds,
    });
  });
});
