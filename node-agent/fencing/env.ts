/** The environment of the agent: every setting with its unit, bounds and default, and what they must be together. */
import { FENCING_MODES } from "../../shared/domain/fencing-lease.ts";
import { inClusterUrl } from "../api-server.ts";
import { LEVELS, type Level } from "../log.ts";
import { SettingsReader } from "../settings.ts";
import { GROUPS_FORM, type GroupSetting, readGroups } from "./groups.ts";
import type { FencingRules } from "./wanted.ts";
import type { ProtocolSettings } from "./words.ts";

export interface AgentSettings {
  readonly protocol: ProtocolSettings;
  readonly nodeName: string;
  readonly requestTimeoutMs: number;
  readonly device: string;
  readonly sysfs: string;
  readonly crashFile: string;
  readonly opsPort: number;
  readonly logLevel: Level;
  readonly apiServer: string;
  readonly credentials: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Renewals that may fail after SIGTERM before the dog is left running. */
const PARTING_TRIES = 3;

/** @throws SettingsFault naming every fault. */
export function readSettings(env: Environment): AgentSettings {
  const reader = new SettingsReader(env);
  const settings = ask(reader, env);
  reader.finish();
  return settings;
}

/** For `--help`. */
export function describedSettings(): SettingsReader["described"] {
  const reader = new SettingsReader({});
  ask(reader, {});
  return reader.described;
}

export const OPS_PORT = "FENCING_OPS_PORT";

/** Alone, since `status` needs nothing else. */
export function askOpsPort(reader: SettingsReader): number {
  const about = "Port on 127.0.0.1 for /healthz, /metrics and /status; 0: any free one.";
  return reader.integer(OPS_PORT, { about, unit: "", min: 0, max: 65_535, fallback: 9809 });
}

function ask(reader: SettingsReader, env: Environment): AgentSettings {
  const seconds = (name: string, about: string, fallback: number, max: number) =>
    1000 * reader.integer(name, { about, unit: "seconds", min: 1, max, fallback });

  const nodeName = reader.text("NODE_NAME", "Name of the Node that the agent runs on (spec.nodeName of its pod).");
  const rules = askRules(reader);
  const renewEveryMs = seconds("FENCING_RENEW_SECONDS", "Time between two renewals of the Lease.", 5, 60);
  const requestTimeoutMs = seconds(
    "FENCING_REQUEST_TIMEOUT_SECONDS",
    "Time for one renewal or one look at the Node.",
    5,
    60,
  );
  const feedAbout = "G: age of an accepted renewal, from its sending, up to which the dog is fed on it.";
  const feedWithinMs = seconds("FENCING_FEED_WITHIN_SECONDS", feedAbout, 10, 300);
  const partingAbout = "After SIGTERM, time to tell the API server; less than the pod's grace period.";
  const partingMs = seconds("FENCING_PARTING_SECONDS", partingAbout, 20, 300);
  if (feedWithinMs < requestTimeoutMs)
    reader.fault(
      "FENCING_FEED_WITHIN_SECONDS is less than FENCING_REQUEST_TIMEOUT_SECONDS: a slow renewal would be accepted and the dog not fed",
    );

  const settings = {
    protocol: { rules, renewEveryMs, feedWithinMs, partingMs, partingTries: PARTING_TRIES },
    ...{ nodeName, requestTimeoutMs },
    device: reader.text("FENCING_DEVICE", "Device file of the watchdog.", "/dev/watchdog"),
    sysfs: reader.text("FENCING_SYSFS", "Where the kernel describes its watchdogs.", "/sys/class/watchdog"),
    crashFile: reader.text(
      "FENCING_CRASH_FILE",
      "File of the node, kept over restarts of the pod, in which crashes are counted.",
      "/var/lib/nodekeeper/fencing-agent/starts.json",
    ),
    opsPort: askOpsPort(reader),
    logLevel: reader.oneOf("LOG_LEVEL", LEVELS, "The least level that is logged.", "info"),
    apiServer: reader.text(
      "API_SERVER",
      "URL of the API server instead of the service's address.",
      inClusterUrl(env) ?? "",
    ),
    credentials: reader.text(
      "API_CREDENTIALS",
      "Folder with the service account's token and ca.crt.",
      "/var/run/secrets/kubernetes.io/serviceaccount",
    ),
  };
  if (!isHttps(settings.apiServer))
    reader.fault(`API_SERVER=${settings.apiServer}: outside a cluster, a URL that begins with https:// is needed`);
  return settings;
}

function askRules(reader: SettingsReader): FencingRules {
  const mode = reader.oneOf("FENCING_MODE", FENCING_MODES, "The mode of nodes that are in no group.", "notify");
  const resetAbout =
    "Must be true for mode watchdog: an outage of the API longer than the dog's timeout then resets every such node.";
  const acceptReset = reader.switch("FENCING_ACCEPT_RESET_ON_API_OUTAGE", resetAbout, false);
  const nowayoutAbout = "Whether a dog is armed that can't be stopped again (nowayout).";
  const acceptNowayout = reader.switch("FENCING_ACCEPT_NOWAYOUT", nowayoutAbout, false);
  const groupsAbout = "Groups of nodes with a mode of their own; the first whose labels the Node has wins.";
  const none: readonly GroupSetting[] = [];
  const groups = reader.parsed("FENCING_GROUPS", groupsAbout, GROUPS_FORM, none, readGroups);

  const refuse = (where: string) =>
    reader.fault(
      `${where}: mode watchdog resets its nodes when the API server is away for longer than the dog's timeout, so it must be chosen with acceptResetOnApiOutage`,
    );
  if (mode === "watchdog" && !acceptReset) refuse("FENCING_MODE");
  groups.forEach((group, index) => {
    if (group.mode === "watchdog" && !(group.acceptResetOnApiOutage ?? acceptReset))
      refuse(`FENCING_GROUPS, group ${index + 1}`);
  });
  return {
    ...{ mode, acceptNowayout },
    groups: groups.map((group) => ({
      labels: group.labels,
      mode: group.mode,
      acceptNowayout: group.acceptNowayout ?? acceptNowayout,
    })),
  };
}

function isHttps(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === "https:";
}
