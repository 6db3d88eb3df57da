/**
 * Says what is wrong with a deploy configuration: all faults at once, each with the key it is about and an example of
 * a right value, so that one look and one edit are enough.
 */
import type * as z from "zod";

/** A right value for every key. The documentation's examples are these. */
export const EXAMPLE_CONFIG = {
  cluster: "production",
  account: "111122223333",
  region: "eu-west-1",
  api: {
    via: "eks",
    url: "https://nodekeeper-relay.internal.example.com",
    caFile: "relay-ca.pem",
    eksClusterName: "Production_1",
  },
  network: {
    vpcId: "vpc-0123456789abcdef0",
    subnetIds: ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
    securityGroupIds: ["sg-0123456789abcdef0"],
    endpoints: "existing",
    vpcCidrs: ["10.0.0.0/16"],
  },
  policy: {
    v: 1,
    ignore: [
      { matchLabels: { team: "storage" }, matchExpressions: [{ key: "karpenter.sh/nodepool", operator: "Exists" }] },
    ],
    requireTag: { name: "kubernetes.io/cluster/production", value: "owned" },
    default: {
      pdbPatienceSeconds: 20,
      podGraceSeconds: { max: 90 },
      taint: "NoSchedule",
      dryRun: false,
      fencing: {
        enabled: true,
        proof: "watchdog",
        suspectAfterSeconds: 60,
        stop: "stop",
        stopAfterSeconds: 180,
        bound: "3W",
        marginSeconds: 5,
        safeAfterSeconds: 240,
        watchdogTimeoutSeconds: 60,
        feedWithinSeconds: 10,
      },
    },
    overrides: [
      {
        selector: {
          matchLabels: { pool: "batch" },
          matchExpressions: [{ key: "pool", operator: "In", values: ["batch"] }],
        },
        policy: {
          pdbPatienceSeconds: 0,
          podGraceSeconds: { max: 30 },
          taint: "NoExecute",
          dryRun: true,
          fencing: { enabled: false },
        },
      },
    ],
    fencing: {
      maxSilentShare: 0.1,
      maxFencedShare: 0.3,
      groupLabels: ["node.deckhouse.io/group", "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool"],
    },
  },
  replayRoleArns: ["arn:aws:iam::111122223333:role/platform-on-call"],
  queues: { urgent: { maxConcurrency: 10, reservedConcurrency: 20 } },
  schedules: { fencing: { enabled: true, reservedConcurrency: 2 } },
  alarms: { topicArn: "arn:aws:sns:eu-west-1:111122223333:platform-alerts" },
  logRetentionDays: 30,
  logLevel: "INFO",
} as const;

export class DeployConfigFaults extends Error {
  override readonly name = "DeployConfigFaults";
  /** One line each: key, what is wrong, an example. */
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `checking the deploy configuration: ${faults.length} to mend\n${faults.map((one) => `  - ${one}`).join("\n")}`,
    );
    this.faults = faults;
  }
}

export function describeFaults(error: z.ZodError): readonly string[] {
  return error.issues.flatMap((issue) => {
    if (issue.code !== "unrecognized_keys") return [describe(issue.path, issue.message)];
    return issue.keys.map((key) => `${nameOf([...issue.path, key])}: is no key; known here: ${keysAt(issue.path)}`);
  });
}

type Path = readonly PropertyKey[];

function describe(path: Path, message: string): string {
  return `${nameOf(path)}: ${message}; for example ${JSON.stringify(exampleAt(path))}`;
}

function nameOf(path: Path): string {
  return path.length === 0 ? "nodekeeper" : path.map(String).join(".");
}

/** The example at a path. Every item of a list has the first one's; what has none of its own has its parent's. */
function exampleAt(path: Path): unknown {
  let found: unknown = EXAMPLE_CONFIG;
  for (const step of path) {
    const key = typeof step === "number" ? 0 : step;
    if (typeof found !== "object" || found === null || !(key in found)) return found;
    found = Reflect.get(found, key);
  }
  return found;
}

function keysAt(path: Path): string {
  const example = exampleAt(path);
  return typeof example === "object" && example !== null ? Object.keys(example).join(", ") : "none";
}
