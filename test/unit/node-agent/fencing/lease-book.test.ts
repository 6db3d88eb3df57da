/** The Lease as the agent writes it, against an API server of a few lines that counts versions as the real one does. */
import { expect, test } from "vitest";
import type { ApiAnswer, ApiRequest } from "../../../../node-agent/api-server.ts";
import { fieldsOf, textsOf } from "../../../../node-agent/fencing/fields.ts";
import { createLeaseBook } from "../../../../node-agent/fencing/lease-book.ts";
import { FENCING_ANNOTATION, type FencingStatement } from "../../../../shared/domain/fencing-lease.ts";
import { readFencingStatement } from "../../../../shared/domain/read-fencing-lease.ts";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/nodekeeper/leases";

function statement(sequence: number, armed = false): FencingStatement {
  const mode = armed ? "watchdog" : "notify";
  return { v: 1, mode, bootId: "boot-1", feedWithinSeconds: 10, armed, agent: "agent-1", sequence };
}

class FakeLeases {
  stored: { metadata: Record<string, unknown> } | undefined;
  version = 100;
  lives = 0;
  seen: ApiRequest[] = [];
  late: ApiRequest[] = [];
  /** How the next calls fare; after that all is well. */
  fates: ("lost" | "late" | "applied" | number)[] = [];

  async call(asked: ApiRequest): Promise<ApiAnswer> {
    this.seen.push(asked);
    const fate = this.fates.shift();
    if (typeof fate === "number") return { kind: "answered", status: fate, body: '{"message":"as the test wants it"}' };
    if (fate === "late") this.late.push(asked);
    if (fate === "lost" || fate === "late") return { kind: "unanswered", because: "timed out" };
    const answer = this.carryOut(asked);
    return fate === "applied" ? { kind: "unanswered", because: "timed out" } : answer;
  }

  carryOut({ method, body }: ApiRequest): ApiAnswer {
    const metadata = fieldsOf(fieldsOf(body).metadata);
    const answer = (status: number, shown: unknown = this.stored): ApiAnswer => ({
      kind: "answered",
      status,
      body: JSON.stringify(shown),
    });
    if (method === "GET") return this.stored ? answer(200) : answer(404, {});
    if (method === "POST" && this.stored) return answer(409, {});
    if (method === "POST") this.lives += 1;
    const now = this.stored?.metadata ?? {};
    const { uid = now.uid, resourceVersion = now.resourceVersion } = metadata;
    if (method === "PUT" && (uid !== now.uid || resourceVersion !== now.resourceVersion)) return answer(409, {});
    this.version += 1;
    this.stored = {
      ...fieldsOf(body),
      metadata: { ...metadata, uid: `life-${this.lives}`, resourceVersion: String(this.version) },
    };
    return answer(method === "POST" ? 201 : 200);
  }

  get said() {
    const reading = readFencingStatement(textsOf(this.stored?.metadata.annotations)[FENCING_ANNOTATION]);
    return reading.kind === "statement" ? reading.statement : undefined;
  }

  get verbs() {
    return this.seen.splice(0).map(({ method }) => method);
  }
}

function bookOn(leases: FakeLeases, nodeUid?: string) {
  let now = 0;
  const nowMs = () => {
    now += 1;
    return now;
  };
  return createLeaseBook({ api: leases, nodeName: "node-1", nodeUid: () => nodeUid, timeoutMs: 5_000, nowMs });
}

test("the first renewal makes the Lease, disarmed, and each one after that writes it once", async () => {
  const leases = new FakeLeases();
  const book = bookOn(leases, "node-uid");
  expect(await book.renew(statement(1, true))).toMatchObject({ kind: "accepted" });
  const born = leases.seen.find(({ method }) => method === "POST");
  const annotations = textsOf(fieldsOf(fieldsOf(born?.body).metadata).annotations);
  expect(readFencingStatement(annotations[FENCING_ANNOTATION])).toMatchObject({
    statement: { armed: false, mode: "notify" },
  });
  expect(leases.seen.map(({ path }) => path)).toEqual([`${LEASES}/node-1`, LEASES, `${LEASES}/node-1`]);
  expect([leases.verbs, leases.said]).toEqual([["GET", "POST", "PUT"], statement(1, true)]);
  await book.renew(statement(2));
  expect([leases.verbs, leases.said]).toEqual([["PUT"], statement(2)]);
  expect(leases.stored).toMatchObject({
    metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "node-1", uid: "node-uid" }] },
    spec: { holderIdentity: "agent-1", renewTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z$/) },
  });
});

test("the time of sending is taken after reading and before writing", async () => {
  const leases = new FakeLeases();
  let now = 0;
  const slow = {
    async call(asked: ApiRequest) {
      now += 999.5;
      return leases.call(asked);
    },
  };
  const book = createLeaseBook({
    api: slow,
    nodeName: "node-1",
    nodeUid: () => undefined,
    timeoutMs: 5_000,
    nowMs: () => now,
  });
  expect(await book.renew(statement(1))).toEqual({ kind: "accepted", sentAtMs: 1_999 });
  // Whole milliseconds: timers of Node.js take no others.
  expect(leases.seen.map(({ timeoutMs }) => timeoutMs)).toEqual([5_000, 4_001, 3_001]);
});

test.each([
  ["conflict", 409],
  ["refused", 403],
  ["refused", 500],
  ["refused", 429],
  ["refused", 404],
  ["refused", 201],
  ["refused", 302],
] as const)("%s: HTTP %i is no renewal, and the Lease is read again before the next", async (reason, status) => {
  const leases = new FakeLeases();
  const book = bookOn(leases);
  await book.renew(statement(1));
  leases.fates = [status];
  expect(await book.renew(statement(2))).toMatchObject({ kind: "failed", reason });
  expect(await book.renew(statement(3))).toMatchObject({ kind: "accepted" });
  expect(leases.verbs.slice(3)).toEqual(["PUT", "GET", "PUT"]);
});

test("an answer that isn't the Lease as it was written is no renewal", async () => {
  const book = createLeaseBook({
    api: {
      call: async ({ method }) => (method === "GET" ? answerWith("other") : answerWith(JSON.stringify(statement(9)))),
    },
    nodeName: "node-1",
    nodeUid: () => undefined,
    timeoutMs: 5_000,
    nowMs: () => 0,
  });
  expect(await book.renew(statement(1))).toMatchObject({ kind: "failed", reason: "refused" });
});

function answerWith(annotation: string): ApiAnswer {
  const metadata = { uid: "u", resourceVersion: "1", annotations: { [FENCING_ANNOTATION]: annotation } };
  return { kind: "answered", status: 200, body: JSON.stringify({ metadata }) };
}

test("a late armed=true can't lie over the armed=false that was accepted after it", async () => {
  const leases = new FakeLeases();
  const book = bookOn(leases);
  await book.renew(statement(1));
  leases.fates = ["late"];
  expect(await book.renew(statement(2, true))).toMatchObject({ kind: "failed", reason: "unanswered" });
  expect(await book.renew(statement(3))).toMatchObject({ kind: "accepted" });
  for (const late of leases.late) expect(leases.carryOut(late)).toMatchObject({ status: 409 });
  expect(leases.said).toEqual(statement(3));
});

test("one that came in between is noticed: the next write is a conflict, and only the one after it is accepted", async () => {
  const leases = new FakeLeases();
  const book = bookOn(leases);
  await book.renew(statement(1));
  leases.fates = ["late"];
  await book.renew(statement(2, true));
  const read = leases.call.bind(leases);
  leases.call = async (asked) => {
    const answer = await read(asked);
    if (asked.method === "GET") for (const late of leases.late.splice(0)) leases.carryOut(late);
    return answer;
  };
  expect(await book.renew(statement(3))).toMatchObject({ kind: "failed", reason: "conflict" });
  expect(leases.said).toEqual(statement(2, true));
  expect(await book.renew(statement(4))).toMatchObject({ kind: "accepted" });
  expect(leases.said).toEqual(statement(4));
});

test("a late armed=true brings no deleted Lease back to life", async () => {
  const leases = new FakeLeases();
  const book = bookOn(leases);
  await book.renew(statement(1));
  leases.fates = ["late"];
  await book.renew(statement(2, true));
  leases.stored = undefined;
  for (const late of leases.late) expect(leases.carryOut(late)).toMatchObject({ status: 409 });
  expect(await book.renew(statement(3))).toMatchObject({ kind: "accepted" });
  expect([leases.said, leases.lives]).toEqual([statement(3), 2]);
});

test("labels and annotations of others stay", async () => {
  const leases = new FakeLeases();
  const book = bookOn(leases);
  leases.stored = { metadata: { uid: "u", resourceVersion: "7", labels: { team: "a" }, annotations: { note: "b" } } };
  await book.renew(statement(1));
  expect(leases.stored).toMatchObject({ metadata: { labels: { team: "a" }, annotations: { note: "b" } } });
});
