/** The nodes of the end-to-end suite of fencing: one for each fate, with its agent's statement and its policy. */
import type { PlayedAgent } from "./fencing-agents.ts";

/** W of the dogs here. T_safe is then 3 x 40 s + 5 s + 2 s: later than a suspicion is confirmed. */
export const WATCHDOG_SECONDS = 40;
export const SAFE_SECONDS = 127;

type Mode = PlayedAgent["statement"]["mode"];

export interface Role {
  readonly mode: Mode;
  /** Override of its node policy. */
  readonly policy?: object;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** How its instance was bought; default on demand, and in no group. */
  readonly instance?: "spot" | "group";
}

/** The least that the policy takes: an instance is ended as soon as its node's silence is confirmed. */
const ENDS = { stop: "stop", stopAfterSeconds: 60 } as const;

export const CAST = {
  "stopped-by-others": { mode: "local" },
  "reset-by-dog": {
    mode: "watchdog",
    policy: { fencing: { proof: "watchdog", watchdogTimeoutSeconds: WATCHDOG_SECONDS } },
  },
  "never-proven": { mode: "watchdog" },
  "ended-by-stop": { mode: "local", policy: { fencing: ENDS } },
  "ended-spot": { mode: "local", policy: { fencing: ENDS }, instance: "spot" },
  "ended-of-group": { mode: "local", policy: { fencing: ENDS }, instance: "group" },
  "away-for-59-s": { mode: "watchdog" },
  "away-for-75-s": { mode: "watchdog" },
  "away-for-longer": { mode: "local" },
  "without-kubelet": { mode: "local" },
  "made-anew": { mode: "local" },
  rehearsed: { mode: "local", policy: { dryRun: true, fencing: ENDS } },
  maintained: { mode: "local", annotations: { "nodekeeper.dev/paused": "" } },
  "only-notified": { mode: "notify", policy: { fencing: { ...ENDS, proof: "watchdog" } } },
  static: { mode: "local", labels: { "node.deckhouse.io/type": "CloudStatic" } },
} as const satisfies Record<string, Role>;

export type RoleName = keyof typeof CAST;

/** Names of nodes are names of roles. */
export const ROLE_NAMES: readonly RoleName[] = Object.keys(CAST).filter((name): name is RoleName => name in CAST);

export function roleOf(name: RoleName): Role {
  return CAST[name];
}

/** By default EC2's own word is the only proof, and no instance is ended. */
export const CAST_POLICY = {
  default: { fencing: { enabled: true, stop: "never" } },
  overrides: ROLE_NAMES.flatMap((name) => {
    const { policy } = roleOf(name);
    return policy ? [{ selector: { matchLabels: { "kubernetes.io/hostname": name } }, policy }] : [];
  }),
};

export function statementOf(name: RoleName): PlayedAgent["statement"] {
  const { mode } = roleOf(name);
  const watchdog = mode === "notify" ? {} : { watchdogTimeoutSeconds: WATCHDOG_SECONDS };
  return { mode, armed: mode === "watchdog", bootId: bootIdOf(name), ...watchdog };
}

export function bootIdOf(name: RoleName): string {
  return `boot-of-${name}`;
}
