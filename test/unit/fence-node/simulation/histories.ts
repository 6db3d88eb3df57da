/** What a history is made of: how an installation is set up, and what goes wrong in it, when and for how long. */
import * as fc from "fast-check";
import { FENCING_BOUNDS, type FencingBound } from "../../../../shared/domain/fencing-bound.ts";
import type { FencingMode } from "../../../../shared/domain/fencing-lease.ts";

/** Of one node. Those with a `for` of no meaning happen at once. */
export const NODE_TROUBLES = [
  "cut off",
  "cut off, connections refused",
  "requests vanish",
  "answers vanish",
  "slow network",
  "agent forbidden",
  "agent stopped",
  "agent stopped before it feeds",
  "agent crashes",
  "agent replaced",
  "kubelet dead",
  "paused",
  "device fails",
  "maintenance",
  "rebooted",
  "power lost",
  "instance stopped",
  "instance terminated",
  "instance not listed",
  "wall clock steps",
  "made anew under its name",
] as const;

/** Of what all share. */
export const COMMON_TROUBLES = [
  "api away",
  "api fails",
  "api takes no writes",
  "node controller away",
  "runs missed",
  "run twice",
  "runs killed",
  "runs stopped",
  "runs cut off",
  "runs on a slow network",
  "ec2 away",
] as const;

export type TroubleKind = (typeof NODE_TROUBLES)[number] | (typeof COMMON_TROUBLES)[number];

export interface Trouble {
  readonly kind: TroubleKind;
  readonly node: number;
  readonly atSeconds: number;
  readonly forSeconds: number;
}

export interface Setup {
  readonly seed: number;
  /** Undefined: the nodes have no agent. */
  readonly mode: FencingMode | undefined;
  readonly proof: "ec2" | "watchdog";
  readonly bound: FencingBound;
  readonly stop: "stop" | "never";
  readonly nodes: number;
  readonly bystanders: number;
  readonly nowayout: boolean;
  readonly isSpot: boolean;
  readonly isOfGroup: boolean;
  readonly isStatic: boolean;
  /** Of the nodes' monotonic clocks. */
  readonly clockRate: number;
}

export interface History {
  readonly setup: Setup;
  readonly troubles: readonly Trouble[];
}

/** By what nodes are proven dead in these histories. */
export type Family = "time rule" | "EC2's word";

const seed = fc.noShrink(fc.nat(2 ** 31 - 1));
const common = {
  seed,
  bound: fc.constantFrom(...FENCING_BOUNDS),
  nodes: fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(2) }),
  bystanders: fc.constantFrom(0, 0, 1, 2),
  nowayout: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  isSpot: fc.boolean(),
  isOfGroup: fc.boolean(),
  isStatic: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  clockRate: fc.constantFrom(1, 0.99, 1.01),
};

const SETUPS: Readonly<Record<Family, fc.Arbitrary<Setup>>> = {
  "time rule": fc.record<Setup>({
    ...common,
    mode: fc.oneof(
      { weight: 9, arbitrary: fc.constant("watchdog" as const) },
      { weight: 1, arbitrary: fc.constantFrom("local" as const, "notify" as const, undefined) },
    ),
    proof: fc.constant("watchdog"),
    stop: fc.oneof(
      { weight: 4, arbitrary: fc.constant("never" as const) },
      { weight: 1, arbitrary: fc.constant("stop" as const) },
    ),
  }),
  "EC2's word": fc.record<Setup>({
    ...common,
    mode: fc.constantFrom("watchdog", "local", "local", "notify", undefined),
    proof: fc.constant("ec2"),
    stop: fc.oneof(
      { weight: 4, arbitrary: fc.constant("stop" as const) },
      { weight: 1, arbitrary: fc.constant("never" as const) },
    ),
  }),
};

/** What silences a node comes first, and what disturbs who looks at it comes less often than what disturbs the node. */
const WEIGHTS: Partial<Readonly<Record<TroubleKind, number>>> = {
  "cut off": 40,
  "cut off, connections refused": 10,
  "requests vanish": 6,
  "answers vanish": 10,
  "slow network": 5,
  "agent stopped": 12,
  "agent stopped before it feeds": 12,
  "agent crashes": 16,
  "agent replaced": 4,
  "kubelet dead": 6,
  paused: 16,
  maintenance: 3,
  rebooted: 3,
  "power lost": 6,
  "instance stopped": 6,
  "instance terminated": 3,
};
const USUAL_WEIGHT = 2;

/** On a grid too: what does harm is mostly two things at once. */
const times = fc.oneof(
  fc.integer({ min: 15, max: 80 }),
  fc.integer({ min: 2, max: 8 }).map((step) => 10 * step),
);
const durations = fc.oneof(
  fc.integer({ min: 1, max: 20 }),
  fc.integer({ min: 10, max: 120 }),
  fc.integer({ min: 150, max: 420 }),
);

/** A guest that is paused stops its dog, so the time rule isn't for installations where that happens: docs/fencing.md */
export function kindsIn(family: Family): readonly TroubleKind[] {
  const all: readonly TroubleKind[] = [...NODE_TROUBLES, ...COMMON_TROUBLES];
  return family === "time rule" ? all.filter((kind) => kind !== "paused") : all;
}

export function histories(family: Family, kinds = kindsIn(family)): fc.Arbitrary<History> {
  const kind = fc.oneof(...kinds.map((one) => ({ weight: WEIGHTS[one] ?? USUAL_WEIGHT, arbitrary: fc.constant(one) })));
  const trouble = fc.record<Trouble>({ kind, node: fc.nat(1), atSeconds: times, forSeconds: durations });
  const troubles = fc.array(trouble, { minLength: 1, maxLength: 6, size: "max" });
  return fc.record({ setup: SETUPS[family], troubles }).map(withinItsTrust);
}

/** The shorter bound trusts that no feed comes later than G after its renewal, which who is stopped in between can't keep. */
function withinItsTrust({ setup, troubles }: History): History {
  if (setup.bound === "3W") return { setup, troubles };
  const trusted = (trouble: Trouble): Trouble =>
    trouble.kind === "agent stopped before it feeds" ? { ...trouble, kind: "agent stopped" } : trouble;
  return { setup, troubles: troubles.map(trusted) };
}

/** As late as a dog can be fed: a feed that hangs until the dog is about to bark, then a crash when it is again. */
export const latestFeeds: fc.Arbitrary<History> = fc
  .tuple(
    SETUPS["time rule"],
    fc.integer({ min: 40, max: 50 }),
    fc.integer({ min: 45, max: 60 }),
    fc.integer({ min: 135, max: 165 }),
  )
  .map(([setup, hangsAt, hangsFor, crashesAt]) => ({
    setup: { ...setup, bound: "3W", mode: "watchdog", nodes: 1, isStatic: false, clockRate: 0.99 },
    troubles: [
      { kind: "agent stopped before it feeds", node: 0, atSeconds: hangsAt, forSeconds: hangsFor },
      { kind: "cut off", node: 0, atSeconds: 50, forSeconds: 420 },
      { kind: "agent crashes", node: 0, atSeconds: crashesAt, forSeconds: 1 },
    ],
  }));

const CUTS = ["cut off", "cut off, connections refused", "requests vanish", "answers vanish"] as const;
/** A dog that is fed on renewals only resets a node that is cut off for longer: then it isn't one that was fine. */
const SAFE_WITH_A_DOG_SECONDS = 45;

/** A node that was cut off for up to 75 s, whatever its way of fencing, and nothing else was wrong. */
export const shortPartitions: fc.Arbitrary<History> = fc
  .tuple(
    fc.oneof(SETUPS["time rule"], SETUPS["EC2's word"]),
    fc.constantFrom(...CUTS),
    times,
    fc.integer({ min: 1, max: 75 }),
  )
  .map(([setup, kind, atSeconds, seconds]) => {
    const forSeconds = setup.mode === "watchdog" ? Math.min(seconds, SAFE_WITH_A_DOG_SECONDS) : seconds;
    return { setup: { ...setup, nodes: 1 }, troubles: [{ kind, node: 0, atSeconds, forSeconds }] };
  });

/** The API server is away for everybody, for up to five minutes. No node resets itself for that. */
export const outages: fc.Arbitrary<History> = fc
  .tuple(
    SETUPS["EC2's word"],
    fc.constantFrom("local", "notify", undefined),
    fc.constantFrom("api away", "api fails"),
    times,
    fc.integer({ min: 10, max: 300 }),
  )
  .map(([setup, mode, kind, atSeconds, forSeconds]) => {
    return { setup: { ...setup, mode }, troubles: [{ kind, node: 0, atSeconds, forSeconds }] };
  });

/** After which a node that lives is armed again. */
const EARLIER: readonly TroubleKind[] = [
  ...CUTS,
  ...(["slow network", "agent stopped", "kubelet dead", "maintenance", "rebooted", "api away", "api fails"] as const),
  ...(["runs missed", "run twice", "runs killed", "runs stopped", "runs cut off", "ec2 away"] as const),
];
const AT_REST_SECONDS = 400;
const FOR_GOOD_SECONDS = 10_000;
export const DEATH_MS = 1000 * AT_REST_SECONDS;

/** Some troubles that end, then rest, then a node that dies for good where there is proof to be had. */
export const deaths: fc.Arbitrary<History> = fc
  .oneof(
    fc.tuple(SETUPS["time rule"], fc.constant("watchdog" as const), fc.constantFrom("cut off", "power lost")),
    fc.tuple(SETUPS["EC2's word"], fc.constantFrom("local", "watchdog"), fc.constantFrom("cut off", "power lost")),
    fc.tuple(
      SETUPS["EC2's word"],
      fc.constantFrom("local", "notify", undefined),
      fc.constantFrom("instance stopped", "instance terminated"),
    ),
  )
  .chain(([setup, mode, kind]) => {
    const trouble = fc.record<Trouble>({
      kind: fc.constantFrom(...EARLIER),
      node: fc.constant(0),
      atSeconds: times,
      forSeconds: fc.integer({ min: 1, max: 100 }),
    });
    const death = { kind, node: 0, atSeconds: AT_REST_SECONDS, forSeconds: FOR_GOOD_SECONDS } as const;
    const stop = setup.proof === "ec2" ? "stop" : setup.stop;
    return fc.array(trouble, { maxLength: 4 }).map((earlier) => ({
      setup: { ...setup, mode, stop, nodes: 1, isStatic: false },
      troubles: [...earlier, death],
    }));
  });
