/** What a function does before its first signal: read its environment, and know when its time is over. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { environmentSchema } from "../../../functions/drain-node/env.ts";
import { readEnvironment } from "../../../shared/lambda/read-environment.ts";
import { timeBudget } from "../../../shared/lambda/time-budget.ts";

const GOOD = {
  FUNCTION: "drain-urgent",
  CLUSTER_NAME: "blue",
  ACCOUNT_ID: "123456789012",
  AWS_REGION: "eu-west-1",
  API_URL: "https://relay.internal:8443",
  TOKEN_AUDIENCE: "nodekeeper-relay/blue/eu-west-1",
  QUEUE_URL: "https://sqs.eu-west-1.amazonaws.com/123456789012/q",
  DEAD_LETTER_QUEUE_URL: "https://sqs.eu-west-1.amazonaws.com/123456789012/d",
};

describe("the environment", () => {
  it("is taken as the stack sets it, whatever else Lambda adds", () => {
    expect(readEnvironment(environmentSchema, { ...GOOD, LAMBDA_TASK_ROOT: "/var/task" })).toEqual(GOOD);
  });
  it("names all that is missing or wrong together, and shows no value", () => {
    const bad = { ...GOOD, CLUSTER_NAME: undefined, ACCOUNT_ID: "my-secret", API_URL: "http://plain" };
    expect(() => readEnvironment(environmentSchema, bad)).toThrow(/CLUSTER_NAME.*API_URL.*ACCOUNT_ID/s);
    expect(() => readEnvironment(environmentSchema, bad)).not.toThrow(/my-secret/);
  });
});

describe("the time budget", () => {
  it("is over a second and a half before the invocation's end", async () => {
    const budget = timeBudget(1_600);
    expect(budget.aborted).toBe(false);
    await sleep(300);
    expect(budget.aborted).toBe(true);
  });
  it("is over at once where less is left", async () => {
    const budget = timeBudget(900);
    await sleep(50);
    expect(budget.aborted).toBe(true);
  });
});
