/**
 * A node to fence: a guest with a watchdog and the fencing-agent that ships, which reaches the API server through a
 * front of its own.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { FencingStatement } from "../../../shared/domain/fencing-lease.ts";
import type { CommandResult } from "../../rig/guest/command-line.ts";
import { type Guest, startGuest } from "../../rig/guest/start-guest.ts";
import { waitUntil } from "../../rig/wait.ts";
import type { FencingCluster, Says } from "./fencing-cluster.ts";
import { type Front, startFront } from "./fencing-front.ts";
import { explained, type LogLine, logOf, succeed } from "./guest-agent.ts";

/** Twice G + interval: the agent takes no shorter dog. */
export const W_SECONDS = 10;
export const G_SECONDS = 4;
/** G may not be shorter than the time for a request, and that is what a busy machine needs now and then. */
const SETTINGS: Settings = {
  FENCING_RENEW_SECONDS: "1",
  FENCING_REQUEST_TIMEOUT_SECONDS: String(G_SECONDS),
  FENCING_FEED_WITHIN_SECONDS: String(G_SECONDS),
  FENCING_PARTING_SECONDS: "5",
};
export const WATCHDOG_MODE: Settings = { FENCING_MODE: "watchdog", FENCING_ACCEPT_RESET_ON_API_OUTAGE: "true" };
export const LOCAL_MODE: Settings = { FENCING_MODE: "local" };

/** As the init container loads it, with a shorter dog. */
export const SOFTDOG = softdog(W_SECONDS);
/** For a dog that the next agent must take over in time: on a busy machine its start takes a good part of W_SECONDS. */
export const LONG_W_SECONDS = 30;
export const RESET = /Kernel panic - not syncing: Software Watchdog Timer expired/;

/** Of a guest; a test of one life has as long. */
export const LIFE_MILLISECONDS = 220_000;
/** As long as for what the Lease says. */
const STATE_MILLISECONDS = 60_000;

/** Exit code of the subcommand. */
const NO_ANSWER = 3;
const STATUS_TRIES = 3;

export type Settings = Readonly<Record<string, string>>;

export interface FencingNodeStart {
  readonly cluster: FencingCluster;
  /** A file of CommonJS. */
  readonly program: string;
  readonly name: string;
  /** Of the agent. */
  readonly settings: Settings;
  /** Parameters with it; undefined: nothing is loaded. */
  readonly softdog: string | undefined;
}

export interface FencingNode extends AsyncDisposable {
  readonly guest: Guest;
  readonly front: Front;
  /** Returns at once. `more` comes on top of the node's settings. */
  startAgent(more?: Settings): Promise<void>;
  /** From now on one is started whenever the last has ended, as the kubelet does at first: without a pause. */
  keepAgentStarted(): Promise<void>;
  signalAgent(signal: "KILL" | "STOP" | "TERM"): Promise<void>;
  /** The subcommand, run in the guest; again where the agent was too busy to answer it. */
  status(): Promise<CommandResult>;
  /** What agents logged so far, oldest first. */
  log(): readonly LogLine[];
  waitForLog(facts: LogLine): Promise<void>;
  waitForLease(says: Says): Promise<FencingStatement>;
  waitForDog(state: "active" | "inactive"): Promise<void>;
  /** Lets so many seconds of the guest go by. @throws if it doesn't live through them. */
  liveOn(seconds: number): Promise<void>;
  /** Gives the time of the reset, by `performance.now()`. @throws if it doesn't come before `byMs` of that clock. */
  waitForReset(byMs: number): Promise<number>;
}

export async function startFencingNode(start: FencingNodeStart): Promise<FencingNode> {
  const { cluster, name } = start;
  await using onFailure = new AsyncDisposableStack();
  const token = await cluster.addNode(name);
  const front = onFailure.use(await startFront(cluster.port));
  const guest = onFailure.use(
    await startGuest({
      network: true,
      modules: start.softdog === undefined ? [] : [start.softdog],
      files: [
        { from: start.program, to: "/agent/main.cjs" },
        { content: token, to: "/agent/api/token" },
        { content: cluster.caPem, to: "/agent/api/ca.crt" },
        { content: runScript({ ...start, front }), to: "/agent/run" },
        { content: RESTARTER, to: "/agent/restart" },
      ],
      script: "",
      timeoutMilliseconds: LIFE_MILLISECONDS,
    }),
  );
  const running = onFailure.move();

  const log = () => logOf(guest);
  return {
    ...{ guest, front, log },
    async startAgent(more = {}) {
      await succeed(guest, `${assignments(more)} sh /agent/run & echo $! >/run/agent`);
    },
    async keepAgentStarted() {
      await succeed(guest, "sh /agent/restart &");
    },
    async signalAgent(signal) {
      await succeed(guest, `kill -${signal} $(cat /run/agent)`);
    },
    status: () => askStatus(guest),
    waitForLog: (facts) => {
      const isLogged = () => log().some((line) => holds(line, facts));
      const patience = { withinMilliseconds: STATE_MILLISECONDS };
      return explained(guest, waitUntil(`the agent logs ${JSON.stringify(facts)}`, isLogged, patience));
    },
    waitForLease: (says) => explained(guest, cluster.waitForLease(name, says)),
    waitForDog: (state) => {
      const isSo = async () => (await dogState(guest)) === state;
      return explained(guest, waitUntil(`the dog is ${state}`, isSo, { withinMilliseconds: STATE_MILLISECONDS }));
    },
    async liveOn(seconds) {
      await guest.run(`sleep ${seconds}`, (seconds + 30) * 1000);
    },
    async waitForReset(byMs) {
      await guest.waitForLine(RESET, Math.max(0, byMs - performance.now()));
      const at = performance.now();
      await guest.waitForExit(15_000);
      return at;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Lets time go by in the test's own time, where nothing can be asked of the guest. */
export const pause = (seconds: number): Promise<void> => sleep(seconds * 1000);

export function softdog(seconds: number, more = ""): string {
  return `softdog soft_margin=${seconds} soft_panic=1 ${more}`.trim();
}

function runScript({ name, settings, front }: FencingNodeStart & { readonly front: Front }): string {
  const own = { NODE_NAME: name, API_SERVER: `https://10.0.2.2:${front.port}`, API_CREDENTIALS: "/agent/api" };
  // What is set outside wins.
  const lines = Object.entries({ ...SETTINGS, ...settings, ...own }).map(
    ([key, value]) => `export ${key}="\${${key}:-${value}}"`,
  );
  // As the kubelet makes it for a hostPath volume.
  const folder = "mkdir -p /var/lib/nodekeeper/fencing-agent";
  return [...lines, folder, "exec node /agent/main.cjs >/dev/console 2>&1", ""].join("\n");
}

const RESTARTER = `
while :; do
  sh /agent/run &
  echo $! >/run/agent
  wait $!
done
`;

const assignments = (settings: Settings) =>
  Object.entries(settings)
    .map(([key, value]) => `${key}='${value}'`)
    .join(" ");

async function askStatus(guest: Guest): Promise<CommandResult> {
  let result: CommandResult | undefined;
  for (let tries = 0; tries < STATUS_TRIES && (result === undefined || result.exitCode === NO_ANSWER); tries += 1)
    result = await guest.run("node /agent/main.cjs status");
  if (result === undefined) throw new Error("asking for the status: never tried");
  return result;
}

async function dogState(guest: Guest): Promise<string> {
  return (await guest.run("cat /sys/class/watchdog/watchdog0/state")).output.trim();
}

function holds(line: LogLine, facts: LogLine): boolean {
  return Object.entries(facts).every(([key, value]) => line[key] === value);
}
