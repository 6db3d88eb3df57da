/** The door of the function: what becomes a signal, what is settled there, and what is counted. */
import type { SQSRecord } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { urgentEvents } from "../../../events/accepted.ts";
import type { Fact } from "../../../functions/drain-node/facts.ts";
import { readMessage } from "../../../functions/drain-node/read-message.ts";

const HOME = { account: "123456789012", region: "eu-west-1" };
const NOTICE = {
  ...{ version: "0", id: "event-1", "detail-type": "EC2 Spot Instance Interruption Warning", source: "aws.ec2" },
  ...{ ...HOME, time: "2026-11-30T10:00:00Z" },
  detail: { "instance-id": "i-0b662ef9931388ba0", "instance-action": "terminate" },
};

function read(body: string, receives = "1") {
  const facts: Fact[] = [];
  const record: SQSRecord = {
    ...{ messageId: "m", receiptHandle: "r", body, messageAttributes: {}, md5OfBody: "" },
    ...{ eventSource: "aws:sqs", eventSourceARN: "arn", awsRegion: HOME.region },
    attributes: {
      ...{ ApproximateReceiveCount: receives, SentTimestamp: "0", SenderId: "s" },
      ApproximateFirstReceiveTimestamp: String(Date.parse("2026-11-30T10:00:03Z")),
    },
  };
  return { reading: readMessage(record, { accepted: urgentEvents, home: HOME }, (fact) => facts.push(fact)), facts };
}

describe("a message at the door", () => {
  it("becomes a signal that knows when the queue first gave it out", () => {
    const { reading, facts } = read(JSON.stringify(NOTICE));
    expect(reading).toMatchObject({
      kind: "signal",
      signal: { instanceId: "i-0b662ef9931388ba0", receivedAt: new Date("2026-11-30T10:00:03Z") },
    });
    expect(facts).toEqual([{ kind: "received" }]);
  });
  it("is counted once, however often it comes back", () => {
    expect(read(JSON.stringify(NOTICE), "2").facts).toEqual([]);
  });
  it("case 2: is done where it is of another account, and that is counted", () => {
    const { reading, facts } = read(JSON.stringify({ ...NOTICE, account: "210987654321" }));
    expect(reading).toMatchObject({ kind: "settled", outcome: { kind: "done" } });
    expect(facts).toMatchObject([{ kind: "settled-at-the-door", decision: "not-ours" }]);
  });
  it("goes to the dead letters with the reason where nobody can read it", () => {
    const { reading, facts } = read("{oops");
    expect(reading).toEqual({ kind: "settled", outcome: { kind: "dead-letter", because: "body is no JSON" } });
    expect(facts).toMatchObject([{ kind: "settled-at-the-door", decision: "unreadable" }]);
  });
});
