/** Events that wait in files: through an outage of the API, a restart, refusals, and a spool that is full. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ApiAnswer, ApiRequest, ApiServer } from "../../../../node-agent/api-server.ts";
import { type EventBody, eventsOf } from "../../../../node-agent/early-oom/act/events.ts";
import { Keeping } from "../../../../node-agent/early-oom/act/keep-events.ts";
import { EventPosting, type Posted } from "../../../../node-agent/early-oom/act/post-events.ts";
import { Spool } from "../../../../node-agent/early-oom/act/spool.ts";
import { Journal } from "../../../../node-agent/early-oom/journal.ts";
import { aReport } from "./fixtures/reports.ts";
import { aFolder } from "./fixtures/trees.ts";

const CREATED: ApiAnswer = { kind: "answered", status: 201, body: "{}" };
const AWAY: ApiAnswer = { kind: "unanswered", because: "connect ECONNREFUSED" };
const answer = (status: number, body = "{}"): ApiAnswer => ({ kind: "answered", status, body });

/** An API server that keeps Events by name, as the real one does. */
class FakeApi implements ApiServer {
  readonly asked: ApiRequest[] = [];
  readonly events = new Map<string, unknown>();
  answers: (namespace: string) => ApiAnswer = () => CREATED;

  async call(request: ApiRequest): Promise<ApiAnswer> {
    this.asked.push(request);
    const [, namespace = ""] = /^\/api\/v1\/namespaces\/([^/]+)\/events$/.exec(request.path) ?? [];
    const given = this.answers(namespace);
    if (given !== CREATED) return given;
    const name = nameOf(request.body);
    if (this.events.has(name)) return answer(409);
    this.events.set(name, request.body);
    return given;
  }

  close(): void {}
}

function nameOf(body: unknown): string {
  const { metadata } = Object(body) ?? {};
  return String(Object(metadata).name);
}

function aPosting(folder = join(aFolder(), "spool"), api = new FakeApi()) {
  const spool = new Spool(folder, 4);
  const told: Posted[] = [];
  let nowMs = 0;
  const posting = new EventPosting({ api, spool, now: () => nowMs, onPosted: (posted) => told.push(posted) });
  /** Turns once a second. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      nowMs += 1_000;
      await posting.turn();
    }
  };
  return { api, spool, posting, told, pass, folder };
}

const at = (second: number): readonly EventBody[] =>
  eventsOf(aReport({ at: new Date(Date.UTC(2026, 2, 1, 10, 0, second)) }));

async function putAll(spool: Spool, events: readonly EventBody[]): Promise<readonly string[]> {
  const dropped: string[] = [];
  for (const event of events) dropped.push(...(await spool.put(event)));
  return dropped;
}

describe("while the API is away", () => {
  test("Events wait, and are posted in order when it answers again", async () => {
    const { api, spool, posting, pass } = aPosting();
    api.answers = () => AWAY;
    await putAll(spool, [...at(20), ...at(5)]);
    await pass(60);
    expect(api.events.size).toBe(0);
    expect(posting.waiting).toBe(4);
    api.answers = () => CREATED;
    await pass(300);
    expect([...api.events.values()]).toEqual([...at(5), ...at(20)].toSorted(byTimeAndName));
    expect(await spool.names()).toEqual([]);
    expect(posting.waiting).toBe(0);
  });

  test("they survive a restart of the agent", async () => {
    const before = aPosting();
    before.api.answers = () => AWAY;
    await putAll(before.spool, at(1));
    await before.pass(3);
    const after = aPosting(before.folder);
    await after.pass(1);
    expect(after.api.events.size).toBe(2);
  });

  test("the API is asked again after 5, 10, 20 s and so on, but at least every 5 minutes", async () => {
    const { api, spool, pass } = aPosting();
    api.answers = () => AWAY;
    await putAll(spool, at(1));
    await pass(36);
    expect(api.asked).toHaveLength(4);
    await pass(3_600);
    expect(api.asked.length).toBeGreaterThan(4 + 11);
    expect(api.asked.length).toBeLessThan(4 + 18);
  });

  test("an answer that was lost makes no second Event", async () => {
    const { api, spool, pass, told } = aPosting();
    await putAll(spool, at(1));
    await pass(1);
    await putAll(spool, at(1));
    await pass(1);
    expect(api.events.size).toBe(2);
    expect(told.map(({ kind }) => kind)).toEqual(["posted", "posted", "posted", "posted"]);
    expect(await spool.names()).toEqual([]);
  });
});

describe("an Event that is refused", () => {
  test("for want of rights waits for them, and doesn't hold up those of other namespaces", async () => {
    const { api, spool, pass, told } = aPosting();
    api.answers = (namespace) => (namespace === "shop" ? answer(403, '{"reason":"Forbidden"}') : CREATED);
    await putAll(spool, at(1));
    await pass(1);
    expect(api.events.size).toBe(1);
    expect(told).toContainEqual({ kind: "delayed", because: "the API answered 403 to an Event" });
    api.answers = () => CREATED;
    await pass(10);
    expect(api.events.size).toBe(2);
  });

  test.each([
    ["its namespace is going", answer(403, '{"details":{"causes":[{"reason":"NamespaceTerminating"}]}}')],
    ["its namespace is gone", answer(404)],
    ["the API doesn't take it", answer(422)],
  ])("because %s is dropped and said", async (_why, given) => {
    const { api, spool, pass, told } = aPosting();
    api.answers = (namespace) => (namespace === "shop" ? given : CREATED);
    await putAll(spool, at(1));
    await pass(1);
    expect(told.filter(({ kind }) => kind === "dropped")).toHaveLength(1);
    expect(await spool.names()).toEqual([]);
  });

  test.each([401, 429, 500, 503])("with %i is tried again, and nothing else is asked meanwhile", async (status) => {
    const { api, spool, pass } = aPosting();
    api.answers = () => answer(status);
    await putAll(spool, at(1));
    await pass(1);
    expect(api.asked).toHaveLength(1);
    expect(await spool.names()).toHaveLength(2);
  });
});

describe("the spool", () => {
  test("drops the oldest where there are too many, and says which", async () => {
    const { spool } = aPosting();
    expect(await putAll(spool, [...at(1), ...at(2)])).toEqual([]);
    const dropped = await putAll(spool, at(3));
    expect(dropped).toHaveLength(2);
    for (const file of dropped) expect(file).toContain("10-00-01");
    expect(await spool.names()).toHaveLength(4);
  });

  test("holds a failure that repeats every 15 s once an hour, so that no Event of a kill is pushed out", async () => {
    const { spool } = aPosting();
    await putAll(spool, at(1));
    const failure = (minute: number) =>
      eventsOf(
        aReport({ at: new Date(Date.UTC(2026, 2, 1, 10, minute)), took: { kind: "nothing", because: "EROFS" } }),
      );
    for (let minute = 1; minute < 60; minute += 1) expect(await putAll(spool, failure(minute))).toEqual([]);
    expect(await spool.names()).toHaveLength(at(1).length + 1);
  });

  test("passes over a file that can't be read, says so, and posts the others", async () => {
    const { spool, folder, pass, api, told } = aPosting();
    await putAll(spool, at(1));
    mkdirSync(join(folder, "0-folder.json"));
    await pass(1);
    expect(api.events.size).toBe(2);
    expect(told).toContainEqual({ kind: "delayed", because: expect.stringMatching(/^reading 0-folder.json: EISDIR/) });
  });

  test("leaves no half Event behind, and reads none", async () => {
    const { spool, folder, pass, api, told } = aPosting();
    await putAll(spool, at(1));
    expect(readdirSync(folder).every((name) => name.endsWith(".json"))).toBe(true);
    writeFileSync(join(folder, ".half"), '{"metadata":');
    writeFileSync(join(folder, "0-broken.json"), '{"metadata":{"name":""}}');
    writeFileSync(join(folder, "1-broken.json"), "{");
    await pass(1);
    expect(api.events.size).toBe(2);
    expect(told.filter(({ kind }) => kind === "dropped").map((posted) => "event" in posted && posted.event)).toEqual([
      "0-broken.json",
      "1-broken.json",
    ]);
  });

  test("that isn't there yet holds nothing", async () => {
    const { pass, told, posting } = aPosting();
    await pass(1);
    expect([told, posting.waiting]).toEqual([[], 0]);
  });

  test("that can't be read is said, and tried again", async () => {
    const folder = join(aFolder(), "spool");
    writeFileSync(folder, "a file");
    const { pass, told, api } = aPosting(folder);
    await pass(2);
    expect(told).toEqual([{ kind: "delayed", because: expect.stringMatching(/^reading the spool: /) }]);
    rmSync(folder);
    mkdirSync(folder);
    await pass(10);
    expect(api.asked).toEqual([]);
  });
});

describe("on the way into the spool", () => {
  const kept = async (folder: string) => {
    const lines: string[] = [];
    const journal = new Journal((_level, message, facts) => lines.push(`${message}: ${String(facts?.because)}`));
    const spool = new Spool(folder, 2);
    const keeping = new Keeping(spool, journal);
    keeping.keep(aReport());
    keeping.keep(aReport({ at: new Date("2026-03-01T11:00:00Z") }));
    await keeping.done;
    return { lines, names: await spool.names().catch(() => []), dropped: journal.figures.droppedEvents };
  };

  test("the newest reports are kept", async () => {
    const { names, dropped, lines } = await kept(join(aFolder(), "spool"));
    expect(names.every((name) => name.startsWith("2026-03-01T11"))).toBe(true);
    expect([names.length, dropped]).toEqual([2, 2]);
    expect(lines).toEqual(["event dropped: the spool is full", "event dropped: the spool is full"]);
  });

  test("a folder that can't be written loses Events aloud", async () => {
    const folder = join(aFolder(), "spool");
    writeFileSync(folder, "a file");
    const { dropped, lines } = await kept(folder);
    expect(dropped).toBe(4);
    expect(lines[0]).toMatch(/^event dropped: keeping an Event: /);
  });
});

function byTimeAndName(one: EventBody, other: EventBody): number {
  return one.eventTime.localeCompare(other.eventTime) || one.metadata.name.localeCompare(other.metadata.name);
}
