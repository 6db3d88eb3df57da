/** Case 5 on real parts: fifty notices at once, through bus, queue, shipped bundles and relay, on a real API server. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { OLDEST_UNFINISHED_METRIC } from "../../shared/domain/metrics.ts";
import { describeReal } from "../rig/real-parts.ts";
import { jsonLines } from "../support/backstage.ts";
import { type Installation, install } from "../support/installation.ts";
import { type Measurement, readMeasurements, valuesOf } from "../support/measurements.ts";
import {
  isDrained,
  listNodes,
  listPods,
  populate,
  type RealCluster,
  startRealCluster,
} from "../support/real-cluster.ts";
import { describeRequests, raiseStorm, type StormResult, sumRequests } from "../support/storm.ts";

const NODES = 50;
const PODS = 10;
/** What a node's drain may cost besides one eviction for each pod. */
const REQUESTS_PER_NODE = 12;
/** Half of a spot notice. Far more than it takes: a machine that is busy with other things must not fail here. */
const CORDONED_WITHIN_SECONDS = 60;
const NOTICE_SECONDS = 120;
/** Messages that the function gets at once, at most. */
const BATCH = 10;

describeReal("a storm of 50 notices", ["control plane", "emulator"], () => {
  let cluster: RealCluster;
  let installation: Installation;
  let storm: StormResult;
  let log: string;
  let measured: readonly Measurement[];

  beforeAll(async () => {
    cluster = await startRealCluster({ kwok: { podStopMilliseconds: 5_000, leases: false } });
    await populate(cluster, { nodes: NODES, pods: PODS });
    installation = await install({ kubeApi: { url: cluster.url, caPem: cluster.caPem, token: cluster.relayToken } });
    storm = await raiseStorm(installation, cluster, NODES);
    log = await installation.logText();
    measured = readMeasurements(jsonLines(log));
  });

  afterAll(async () => {
    await installation?.stop();
    await cluster?.stop();
  });

  /** Exactly, unless the machine was so busy that invocations ran out of time: their measurements went with them. */
  function expectAbout(count: number, expected: number): void {
    const unfinished = log.split("Task timed out").length - 1;
    expect(Math.abs(count - expected)).toBeLessThanOrEqual(unfinished * BATCH);
  }

  it("case 5: cordons all fifty and loses none", async () => {
    const nodes = await listNodes(cluster);
    expect(nodes.filter(isDrained).length).toBe(NODES);
  });

  it("leaves no pod behind", async () => {
    expect(await listPods(cluster)).toEqual([]);
  });

  it("leaves nothing in the dead letters", async () => {
    expect(await installation.deadLetters()).toEqual([]);
  });

  it(`asks the API server at most ${REQUESTS_PER_NODE} times for each node, besides one eviction for each pod`, () => {
    // On a busy machine answers come too late, and their requests are made again.
    const answered = storm.requests.filter(({ code }) => code !== "caller-gone");
    const others = sumRequests(answered) - NODES * PODS;
    expect(others / NODES, describeRequests(storm.requests)).toBeLessThanOrEqual(REQUESTS_PER_NODE);
  });

  it(`case 5: cordons all within ${CORDONED_WITHIN_SECONDS} s of their notices, and measures that in seconds`, () => {
    expect(storm.seconds.cordoned).toBeLessThanOrEqual(CORDONED_WITHIN_SECONDS);
    const cordons = measured.filter(({ name }) => name === "secondsToCordon");
    expectAbout(cordons.length, NODES);
    expect(cordons.length).toBeLessThanOrEqual(NODES);
    for (const { unit, value } of cordons) {
      expect(unit).toBe("Seconds");
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(CORDONED_WITHIN_SECONDS);
    }
  });

  it("measures for each node how long it took to empty, and how much of the notice was left", () => {
    const took = valuesOf("secondsToEmpty", measured);
    const left = valuesOf("secondsLeftAtEnd", measured);
    expectAbout(took.length, NODES);
    for (const seconds of left) expect(seconds).toBeGreaterThan(0);
    const sums = took.map((seconds, at) => Math.round(seconds + (left[at] ?? 0)));
    expect(sums).toEqual(took.map(() => NOTICE_SECONDS));
  });

  it("counts each signal once, and each of its steps with a decision and an outcome", () => {
    const steps = jsonLines(log).filter(({ message }) => message === "signal decided").length;
    const decisions = measured.filter(({ name }) => name === "decisionsMade");
    expectAbout(valuesOf("signalsReceived", measured).length, NODES);
    expectAbout(decisions.length, steps);
    expectAbout(valuesOf("outcomesReached", measured).length, steps);
    expectAbout(decisions.filter(({ dimensions }) => dimensions.decision === "drained").length, NODES);
  });

  it.each([
    ["signalsReceived", { kind: "spot-interruption" }],
    ["decisionsMade", { decision: expect.any(String) }],
    ["outcomesReached", { outcome: expect.stringMatching(/^(again|done)$/) }],
    ["secondsToCordon", {}],
    ["secondsToEmpty", {}],
    ["secondsLeftAtEnd", {}],
    [OLDEST_UNFINISHED_METRIC, {}],
  ])("measures %s by function and cluster", (metric, others) => {
    const found = measured.filter(({ name }) => name === metric);
    expect(found.length).toBeGreaterThan(0);
    for (const { dimensions } of found)
      expect(dimensions).toEqual({ service: "drain-urgent", cluster: "demo", ...others });
  });

  it("does everything as the one user that it may be", () => {
    expect(new Set(storm.requests.map(({ user }) => user))).toEqual(new Set(["nodekeeper:drain-urgent"]));
  });
});
