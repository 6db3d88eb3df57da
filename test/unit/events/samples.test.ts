/** Every golden sample is accepted by its own event's pattern and parser, and by no other; every refused one says what is wrong. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { urgentEvents } from "../../../events/accepted.ts";
import { readSignal } from "../../../events/read-signal.ts";

const SAMPLES = join(import.meta.dirname, "../../../events/samples");
const HOME = { account: "123456789012", region: "eu-west-1" };
const matchable = z.object({ source: z.string(), "detail-type": z.string() });

const samples = readdirSync(SAMPLES).flatMap((event) =>
  readdirSync(join(SAMPLES, event)).map((file) => ({
    event,
    file,
    body: readFileSync(join(SAMPLES, event, file), "utf8"),
  })),
);

/** EventBridge's own rule for lists of exact values. */
function matchesPattern(pattern: { source: readonly string[]; "detail-type": readonly string[] }, body: string) {
  const event = matchable.parse(JSON.parse(body));
  return pattern.source.includes(event.source) && pattern["detail-type"].includes(event["detail-type"]);
}

describe("golden samples", () => {
  it("every accepted event has at least one accepted and two refused samples", () => {
    for (const { name } of urgentEvents) {
      const files = samples.filter((sample) => sample.event === name).map(({ file }) => file);
      expect(files.filter((file) => file.startsWith("accepted-")).length, name).toBeGreaterThanOrEqual(1);
      expect(files.filter((file) => file.startsWith("refused-")).length, name).toBeGreaterThanOrEqual(2);
    }
  });

  it.each(samples)("$event/$file is let in by its own rule only", ({ event, body }) => {
    const letIn = urgentEvents.filter(({ pattern }) => matchesPattern(pattern, body)).map(({ name }) => name);
    expect(letIn).toEqual([event]);
  });

  it.each(samples.filter(({ file }) => file.startsWith("accepted-")))("$event/$file becomes a signal", (sample) => {
    const reading = readSignal(sample.body, urgentEvents, HOME);
    expect(reading).toMatchObject({ kind: "signal", signal: { kind: sample.event } });
  });

  const refusals = [
    ["refused-instance-id-missing.json", "instance-id"],
    ["refused-instance-id-upper-case.json", "instance-id: is no EC2 instance id"],
    ["refused-instance-id-is-an-arn.json", "instance-id: is no EC2 instance id"],
    ["refused-action-missing.json", "instance-action"],
    ["refused-action-capitalised.json", "instance-action"],
    ["refused-action-unknown.json", "instance-action"],
    ["refused-detail-is-text.json", "detail"],
    ["refused-time-not-rfc-3339.json", "time"],
    ["refused-account-missing.json", "account"],
    ["refused-envelope-version-unknown.json", "version"],
  ] as const;
  it.each(refusals)("spot-interruption/%s is refused for its %s", (file, named) => {
    const sample = samples.find((one) => one.file === file);
    const reading = readSignal(sample?.body ?? "", urgentEvents, HOME);
    expect(reading).toMatchObject({ kind: "unreadable", because: expect.stringContaining(named) });
  });

  it("no refused sample is forgotten in the table above", () => {
    const refused = samples.map(({ file }) => file).filter((file) => file.startsWith("refused-"));
    expect(refused.toSorted()).toEqual(refusals.map(([file]) => file).toSorted());
  });
});
