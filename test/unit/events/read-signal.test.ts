/** The door for cloud events: what becomes a signal, what is not ours, what nobody can read. */
import { describe, expect, it } from "vitest";
import { urgentEvents } from "../../../events/accepted.ts";
import { readSignal } from "../../../events/read-signal.ts";

const HOME = { account: "123456789012", region: "eu-west-1" };

function anEvent(changes: Record<string, unknown> = {}) {
  return {
    version: "0",
    id: "7c5a41ba-3c8f-4c5f-9c0e-5f0c7a3b1d10",
    "detail-type": "EC2 Spot Instance Interruption Warning",
    source: "aws.ec2",
    account: HOME.account,
    time: "2026-11-30T10:00:00Z",
    region: HOME.region,
    resources: ["arn:aws:ec2:eu-west-1b:instance/i-0b662ef9931388ba0"],
    detail: { "instance-id": "i-0b662ef9931388ba0", "instance-action": "terminate" },
    ...changes,
  };
}
const read = (event: unknown) => readSignal(JSON.stringify(event), urgentEvents, HOME);

describe("reading a spot interruption", () => {
  it.each(["terminate", "stop"])("%s gives two minutes from the event's own time", (action) => {
    const reading = read(anEvent({ detail: { "instance-id": "i-0b662ef9931388ba0", "instance-action": action } }));
    expect(reading).toEqual({
      kind: "signal",
      signal: {
        kind: "spot-interruption",
        id: "7c5a41ba-3c8f-4c5f-9c0e-5f0c7a3b1d10",
        instanceId: "i-0b662ef9931388ba0",
        at: new Date("2026-11-30T10:00:00Z"),
        action,
        deadline: new Date("2026-11-30T10:02:00Z"),
      },
    });
  });

  it("hibernation has begun with the notice: the deadline is its time", () => {
    const reading = read(anEvent({ detail: { "instance-id": "i-0b662ef9931388ba0", "instance-action": "hibernate" } }));
    expect(reading).toMatchObject({ signal: { deadline: new Date("2026-11-30T10:00:00Z") } });
  });

  it("unknown fields, in the envelope and in the detail, are no fault: AWS adds some over time", () => {
    const detail = { "instance-id": "i-0b662ef9931388ba0", "instance-action": "stop", "new-field": 1 };
    expect(read(anEvent({ detail, "replay-name": "r" })).kind).toBe("signal");
  });
});

describe("what is not ours is acknowledged, never acted on", () => {
  it.each([
    ["another account", { account: "210987654321" }],
    ["another region", { region: "eu-central-1" }],
    ["another detail-type of the same source", { "detail-type": "EC2 Instance State-change Notification" }],
    ["the same detail-type of another source", { source: "custom.ec2" }],
    ["a detail-type in another case", { "detail-type": "EC2 spot instance interruption warning" }],
  ])("%s", (_, changes) => {
    expect(read(anEvent(changes)).kind).toBe("not-ours");
  });
});

describe("what nobody can read", () => {
  it.each([
    ["an empty body", "", "body is no JSON"],
    ["no JSON", "{oops", "body is no JSON"],
    ["a JSON text", '"hello"', "envelope"],
    ["null", "null", "envelope"],
    ["an array", "[]", "envelope"],
  ])("%s", (_, body, because) => {
    expect(readSignal(body, urgentEvents, HOME)).toMatchObject({
      kind: "unreadable",
      because: expect.stringContaining(because),
    });
  });

  it("all faults of an envelope are named together", () => {
    const reading = read(anEvent({ id: undefined, time: "yesterday", account: "12" }));
    expect(reading).toMatchObject({ kind: "unreadable", because: expect.stringMatching(/id: .*account: .*time: /s) });
  });
});
