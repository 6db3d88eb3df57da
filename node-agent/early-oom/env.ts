/** early-oom's settings: read once by main.ts, and printed by `--help`. All begin with EARLY_OOM_ but the shared ones. */
import { inClusterUrl } from "../api-server.ts";
import { LEVELS, type Level } from "../log.ts";
import { type Described, SettingsReader } from "../settings.ts";
import type { Rules } from "./words.ts";

export const MODES = ["userspace", "kernel"] as const;
/** `userspace`: we choose a container and end it. `kernel`: its own killer is asked, as sysrq's `f` does. */
export type Mode = (typeof MODES)[number];

export interface Settings {
  readonly mode: Mode;
  readonly dryRun: boolean;
  readonly rules: Rules;
  readonly paths: {
    readonly proc: string;
    readonly cgroup: string;
    readonly sysrqTrigger: string;
    readonly spool: string;
    /** Of the service account. */
    readonly credentials: string;
  };
  readonly spoolEvents: number;
  readonly podListSeconds: number;
  /** Undefined outside a cluster: then no pod is known, and no Event is posted. */
  readonly apiServer: string | undefined;
  readonly opsPort: number;
  readonly logLevel: Level;
  readonly nodeName: string;
  readonly podUid: string;
}

/**
 * @param dryRun what the command line says; the environment may say so too.
 * @throws SettingsFault naming every fault.
 */
export function readSettings(env: Environment, dryRun: boolean): Settings {
  const read = new SettingsReader(env);
  const settings = ask(read, env, dryRun);
  const { apiServer } = settings;
  if (apiServer !== undefined && !(URL.canParse(apiServer) && apiServer.startsWith("https://")))
    read.fault(`API_SERVER=${apiServer}: expected a URL that begins with https://`);
  read.finish();
  return settings;
}

/** For `--help`. */
export function describedSettings(): readonly Described[] {
  const read = new SettingsReader({});
  ask(read, {}, false);
  return read.described;
}

type Environment = Readonly<Record<string, string | undefined>>;

function ask(read: SettingsReader, env: Environment, dryRun: boolean): Settings {
  const rule = (letter: string, about: string) => read.switch(`EARLY_OOM_RULE_${letter}`, about, true);
  return {
    mode: read.oneOf(
      "EARLY_OOM_MODE",
      MODES,
      "Who chooses what is ended: this agent, a whole container (userspace), or the kernel's own killer (kernel).",
      "userspace",
    ),
    dryRun: read.switch("EARLY_OOM_DRY_RUN", "Say what would be ended and why, and end nothing.", false) || dryRun,
    rules: {
      a: rule("A", "Strike when little memory is available and it still falls or tasks wait."),
      b: rule("B", "Strike when every task waits for memory for more than 30 % of 10 s."),
      c: rule("C", "Strike when every task waits for more than 300 ms of a second, twice running."),
      evictionHardKib: 1024 * read.integer("EARLY_OOM_EVICTION_HARD_MIB", EVICTION_HARD),
    },
    paths: {
      proc: read.text("EARLY_OOM_PROC", "The node's proc file system.", "/proc"),
      cgroup: read.text("EARLY_OOM_CGROUP", "The node's cgroup v2 tree, writable.", "/sys/fs/cgroup"),
      sysrqTrigger: read.text("EARLY_OOM_SYSRQ_TRIGGER", "Where sysrq's `f` is written to.", "/proc/sysrq-trigger"),
      spool: read.text("EARLY_OOM_SPOOL", "Folder for Events that wait for the API.", "/var/lib/nodekeeper/early-oom"),
      credentials: read.text("API_CREDENTIALS", "Folder with `token` and `ca.crt` for the API server.", CREDENTIALS),
    },
    spoolEvents: read.integer("EARLY_OOM_SPOOL_EVENTS", SPOOL_EVENTS),
    podListSeconds: read.integer("EARLY_OOM_POD_LIST_SECONDS", POD_LIST),
    apiServer: read.text("API_SERVER", API_SERVER, inClusterUrl(env) ?? "") || undefined,
    opsPort: read.integer("EARLY_OOM_OPS_PORT", PORT),
    logLevel: read.oneOf("LOG_LEVEL", LEVELS, "Lines from this level on.", "info"),
    nodeName: read.text("NODE_NAME", "Name of the Node that this runs on, from the downward API."),
    podUid: read.text("POD_UID", "UID of the pod that this runs in, from the downward API: it is never ended."),
  };
}

const CREDENTIALS = "/var/run/secrets/kubernetes.io/serviceaccount";

const API_SERVER = "URL of the API server; in a pod it is known.";

const EVICTION_HARD = {
  about: "What the kubelet's evictionHard says of memory.available: rule A looks closer below it + 400 MiB or 5 %.",
  unit: "MiB",
  min: 0,
  max: 1_000_000,
  fallback: 100,
};
const SPOOL_EVENTS = {
  about: "Events that are kept while the API is away; beyond, the oldest is dropped.",
  unit: "Events",
  min: 2,
  max: 1_000,
  fallback: 200,
};
const POD_LIST = {
  about: "Time between two lists of the node's pods; an unknown pod is asked about sooner.",
  unit: "seconds",
  min: 5,
  max: 3_600,
  fallback: 60,
};
const PORT = {
  about: "Port on 127.0.0.1 with /healthz, /metrics and /status; 0 takes a free one.",
  unit: "",
  min: 0,
  max: 65_535,
  fallback: 9_808,
};
