import { expect, test } from "vitest";
import { createLog, reasonOf } from "../../../node-agent/log.ts";

test("a reason names the causes behind an error", () => {
  expect(reasonOf(new Error("reading the Node", { cause: new Error("timed out") }))).toBe(
    "reading the Node: timed out",
  );
  expect(reasonOf("odd")).toBe("odd");
});

test("a name of which no address answers gives a reason for each", () => {
  const errors = [new Error("connect ECONNREFUSED 192.0.2.1:443"), new Error("connect ECONNREFUSED 192.0.2.2:443")];
  expect(reasonOf(new AggregateError(errors))).toBe(
    "connect ECONNREFUSED 192.0.2.1:443; connect ECONNREFUSED 192.0.2.2:443",
  );
});

test("lines below the level that was asked for aren't written", () => {
  const lines: string[] = [];
  const log = createLog("agent", "warn", (line) => lines.push(line));
  log("info", "nothing new");
  log("error", "something is wrong", { because: "disk\nfull" });
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
    {
      level: "error",
      message: "something is wrong",
      service: "agent",
      because: "disk\nfull",
      timestamp: expect.any(String),
    },
  ]);
});
