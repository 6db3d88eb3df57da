/** The relay's settings, its log and its limits, each by itself. */
import { describe, expect, test } from "vitest";
import { readEnvironment } from "../../../relay/env.ts";
import { ExpiringCache } from "../../../relay/expiring-cache.ts";
import { InFlightLimit, RateLimit } from "../../../relay/limits.ts";
import { createLog } from "../../../relay/log.ts";
import { sourceOf } from "../../../relay/source.ts";

const NEEDED = { CLUSTER_NAME: "example", AWS_REGION: "eu-west-1" };
const IN_CLUSTER = { ...NEEDED, KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" };

describe("the environment", () => {
  test("of a pod needs the cluster's name and region only, and listens on loopback", () => {
    expect(readEnvironment(IN_CLUSTER)).toMatchObject({
      KUBE_API_URL: "https://10.96.0.1:443",
      LISTEN_ADDRESS: "127.0.0.1",
      PORT: 8443,
    });
  });
  test("of a pod in an IPv6 cluster gives an address in brackets", () => {
    expect(readEnvironment({ ...IN_CLUSTER, KUBERNETES_SERVICE_HOST: "fd00::1" }).KUBE_API_URL).toBe(
      "https://[fd00::1]:443",
    );
  });
  test("may say where else STS is reached", () => {
    expect(readEnvironment({ ...IN_CLUSTER, STS_CONNECT: "127.0.0.1:8444" }).STS_CONNECT).toEqual({
      host: "127.0.0.1",
      port: 8444,
    });
  });
  test("with several faults is refused with all of them", () => {
    const faulty = {
      AWS_REGION: "moon",
      KUBE_API_URL: "http://plain",
      PORT: "70000",
      STS_CONNECT: "nowhere",
      MAX_BODY_BYTES: "0",
    };
    const names = ["CLUSTER_NAME", "AWS_REGION", "KUBE_API_URL", "PORT", "STS_CONNECT", "MAX_BODY_BYTES"];
    for (const name of names) expect(() => readEnvironment(faulty)).toThrow(name);
  });
  test.each(["", " ", "0x10", "1e3", "-1", "8443.5", "+8443", "Infinity"])(
    "with the number '%s' is refused: numbers are digits",
    (text) => {
      expect(() => readEnvironment({ ...IN_CLUSTER, PORT: text })).toThrow("PORT");
      expect(() => readEnvironment({ ...IN_CLUSTER, SHUTDOWN_DELAY_SECONDS: text })).toThrow("SHUTDOWN_DELAY_SECONDS");
    },
  );
  test("takes a number in digits", () => {
    expect(readEnvironment({ ...IN_CLUSTER, PORT: "443", STS_CALLS_PER_SOURCE: "20" })).toMatchObject({
      PORT: 443,
      STS_CALLS_PER_SOURCE: 20,
    });
  });
  test("without an API server is refused", () => {
    expect(() => readEnvironment(NEEDED)).toThrow("KUBE_API_URL");
  });
});

test("the log writes one JSON line, drops a flood and says how much", () => {
  const lines: string[] = [];
  let now = new Date("2026-11-30T10:00:00Z");
  const log = createLog(
    "info",
    (line) => lines.push(line),
    () => now,
  );
  log("debug", "not worth it");
  for (let index = 0; index < 150; index++) log("info", "request refused", { reason: "token" });
  expect(lines).toHaveLength(100);
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    level: "info",
    message: "request refused",
    timestamp: "2026-11-30T10:00:00.000Z",
    service: "relay",
    reason: "token",
  });
  now = new Date("2026-11-30T10:00:01Z");
  log("info", "request refused");
  expect(JSON.parse(lines[100] ?? "")).toMatchObject({ droppedLines: 50 });
});

test("a flood of refusals does not drown a warning or an error, nor do they drown each other", () => {
  const levels: string[] = [];
  const log = createLog(
    "info",
    (line) => levels.push(JSON.parse(line).level),
    () => new Date("2026-11-30T10:00:00Z"),
  );
  for (let index = 0; index < 150; index++) log("info", "request refused");
  for (let index = 0; index < 150; index++) log("error", "file refused");
  log("warn", "request failed");
  const count = (level: string) => levels.filter((one) => one === level).length;
  expect([count("info"), count("error"), count("warn")]).toEqual([100, 150, 1]);
});

test.each([
  ["10.0.0.1", "10.0.0.1"],
  ["::ffff:10.0.0.1", "10.0.0.1"],
  ["fd00::1", "fd00::1"],
  ["::ffff:0:1", "::ffff:0:1"],
  [undefined, ""],
])("a peer at %s is called '%s'", (remoteAddress, source) => {
  expect(sourceOf({ remoteAddress })).toBe(source);
});

test("a full cache forgets its oldest entry, and none is given after its end", () => {
  const cache = new ExpiringCache<number>(2);
  const at = (seconds: number) => new Date(seconds * 1000);
  cache.put("a", 1, at(10));
  cache.put("b", 2, at(10));
  cache.put("c", 3, at(5));
  expect([cache.find("a", at(0)), cache.find("b", at(0)), cache.find("c", at(0))]).toEqual([undefined, 2, 3]);
  expect([cache.find("b", at(9)), cache.find("c", at(5))]).toEqual([2, undefined]);
  expect(cache.size).toBe(1);
});

test("places under way are counted per key and given back", () => {
  const limit = new InFlightLimit(1);
  expect([limit.enter("a"), limit.enter("a"), limit.enter("b")]).toEqual([true, false, true]);
  limit.leave("a");
  expect([limit.enter("a"), limit.enter("b")]).toEqual([true, false]);
});

test("a rate allows its burst at once, then its average, and no more after a long rest", () => {
  const limit = new RateLimit({ perSecond: 2, burst: 3 });
  const taken = (ms: number) => Array.from({ length: 5 }, () => limit.take("a", new Date(ms))).filter(Boolean).length;
  expect([taken(0), taken(500), taken(1_000), taken(3_600_000)]).toEqual([3, 1, 1, 3]);
});
