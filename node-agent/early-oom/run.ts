/**
 * The running agent: tests the way to a strike, wires eyes, head and hands, and turns two loops: the quick one that looks
 * at memory and strikes, and a slow one that asks the API and posts, which the quick one never waits for.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiServer, connectApiServer } from "../api-server.ts";
import type { Log } from "../log.ts";
import { OpsPages } from "../ops-pages.ts";
import { askKernel } from "./act/ask-kernel.ts";
import { endContainer } from "./act/end-container.ts";
import { Keeping } from "./act/keep-events.ts";
import { EventPosting } from "./act/post-events.ts";
import { Spool } from "./act/spool.ts";
import { Containers } from "./containers.ts";
import { describeRules } from "./decide/shortage.ts";
import { EarlyOom } from "./early-oom.ts";
import type { Settings } from "./env.ts";
import { Journal } from "./journal.ts";
import { every, turnUntil } from "./loops.ts";
import { isCgroupGone } from "./observe/is-gone.ts";
import { listPods } from "./observe/list-pods.ts";
import { openMemoryProbe } from "./observe/memory.ts";
import { readNodeOomKills } from "./observe/node-oom-kills.ts";
import { opsOf } from "./ops.ts";
import { Pods } from "./pods.ts";
import { testSelf } from "./self-test.ts";

const CHORES_EVERY_MS = 1_000;
const TEST_EVERY_MS = 300_000;
const PAGES_AGAIN_MS = 10_000;
/** For Events that are on their way into the spool when we are asked to go. */
const PARTING_MS = 2_000;

/** Starts, and goes on until SIGTERM. @throws if memory can't be read. */
export async function runEarlyOom(settings: Settings, log: Log): Promise<void> {
  const { paths, nodeName, podUid, rules, dryRun, opsPort } = settings;
  // Monotonic as `performance` is, which takes half a megabyte more.
  const now = () => process.uptime() * 1_000;
  const journal = new Journal(log);
  const probe = openMemoryProbe(paths.proc, now);
  const look = () => probe.look();
  const api =
    settings.apiServer === undefined
      ? NO_API
      : connectApiServer({ url: settings.apiServer, credentials: paths.credentials });
  const containers = new Containers(paths.cgroup, now);

  const test = () => testSelf({ look, layout: containers.layout, scan: containers.scan }, settings);
  let { mode, problems } = test();
  journal.found("self-test", problems);
  const testAgain = () => {
    containers.findAgain();
    ({ mode, problems } = test());
    journal.found("self-test", problems);
  };

  const pods = new Pods({
    list: () => listPods(api, nodeName),
    everyMs: settings.podListSeconds * 1_000,
    now,
    onAnswer: (answer) => journal.heardOfPods(answer),
  });
  const spool = new Spool(paths.spool, settings.spoolEvents);
  const posting = new EventPosting({ api, spool, now, onPosted: (posted) => journal.posted(posted) });
  const keeping = new Keeping(spool, journal);

  const earlyOom = new EarlyOom({
    eyes: {
      look,
      scan: containers.scan,
      isGone: (cgroup) => isCgroupGone(paths.cgroup, cgroup),
      oomKills: () => readNodeOomKills(paths.proc),
    },
    hands: {
      end: (container) => endContainer(container, paths, dryRun),
      askKernel: () => askKernel(paths.sysrqTrigger, dryRun),
    },
    ...{ pods, journal, rules, dryRun, nodeName, podUid, now },
    tell: (report) => keeping.keep(report),
    mode: () => mode,
    wallClock: () => new Date(),
  });

  const describedRules = describeRules(look().totalKib, rules);
  const settled = () => ({ node: nodeName, mode, asked: settings.mode, dryRun, rules: describedRules });
  const pagePaths = opsOf({
    figures: () => journal.figures,
    podsAgeMs: () => pods.ageMs,
    podsKnown: () => pods.facts.size,
    eventsWaiting: () => posting.waiting,
    ...{ settled, now },
  });
  const pages = new OpsPages({ port: opsPort, paths: pagePaths, problems: journal, log });
  await pages.turn();
  log("info", "early-oom watches", { ...settled(), opsPort: pages.port, layout: containers.layout });

  const stop = new AbortController();
  process.once("SIGTERM", () => stop.abort());
  process.once("SIGINT", () => stop.abort());
  const chores = [
    every(CHORES_EVERY_MS, journal, () => pods.turn()),
    every(CHORES_EVERY_MS, journal, async () => {
      if (!dryRun) await posting.turn();
      if (posting.waiting === 0) journal.found("events", []);
    }),
    every(PAGES_AGAIN_MS, journal, () => pages.turn()),
    every(TEST_EVERY_MS, journal, async () => testAgain()),
  ];
  await turnUntil(stop.signal, { earlyOom, journal, now });
  for (const chore of chores) clearInterval(chore);
  pages.close();
  await Promise.race([keeping.done, sleep(PARTING_MS)]);
  log("info", "early-oom ended");
  process.exit(0);
}

const NO_API: ApiServer = {
  call: async () => ({ kind: "unanswered", because: "no API server is known: API_SERVER is empty" }),
  close: () => undefined,
};
