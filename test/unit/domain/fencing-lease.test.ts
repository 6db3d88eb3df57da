import { expect, test } from "vitest";
import type { FencingStatement } from "../../../shared/domain/fencing-lease.ts";
import { readFencingStatement } from "../../../shared/domain/read-fencing-lease.ts";

const statement: FencingStatement = {
  v: 1,
  mode: "watchdog",
  bootId: "6f2a2a56-5b0c-4a5e-9f0b-6a3c1ad5a5d1",
  watchdogTimeoutSeconds: 60,
  feedWithinSeconds: 10,
  armed: true,
  agent: "a1",
  sequence: 7,
};

test("what an agent says is read back unchanged", () => {
  expect(readFencingStatement(JSON.stringify(statement))).toEqual({ kind: "statement", statement });
});

test("an agent without a dog says no timeout", () => {
  const { watchdogTimeoutSeconds: _, ...without } = statement;
  expect(readFencingStatement(JSON.stringify({ ...without, mode: "notify", armed: false }))).toEqual({
    kind: "statement",
    statement: { ...without, mode: "notify", armed: false },
  });
});

test("fields that a later agent adds don't hide what we know", () => {
  expect(readFencingStatement(JSON.stringify({ ...statement, later: 1 }))).toEqual({ kind: "statement", statement });
});

test.each([
  ["no annotation", undefined, /no fencing annotation/],
  ["no JSON", "armed", /expected object/i],
  ["an unknown version", JSON.stringify({ ...statement, v: 2 }), /at v/],
  ["armed as a text", JSON.stringify({ ...statement, armed: "true" }), /at armed/],
  ["a negative sequence", JSON.stringify({ ...statement, sequence: -1 }), /at sequence/],
  ["a timeout of zero", JSON.stringify({ ...statement, watchdogTimeoutSeconds: 0 }), /at watchdogTimeoutSeconds/],
  ["an unknown mode", JSON.stringify({ ...statement, mode: "gossip" }), /at mode/],
])("%s is unreadable, and why is said", (_, annotation, because) => {
  expect(readFencingStatement(annotation)).toEqual({ kind: "unreadable", because: expect.stringMatching(because) });
});
