/**
 * What differs between two installations, as data: the context key `nodekeeper` of cdk.json, or a file of the same
 * shape. Everything is checked here, once; the stack gets values that are true.
 */
import * as z from "zod";
import { stsHost } from "../shared/domain/identity.ts";
import { policySchema } from "../shared/domain/policy.ts";
import { apiCaFile } from "./api-ca.ts";
import { DeployConfigFaults, describeFaults } from "./deploy-config-faults.ts";

/**
 * `nodekeeper-<cluster>-<function>` must fit the 64 characters of an IAM role's name, with room for functions to come.
 * Lower case, because IAM compares the names of roles without case. No dots, which queue names don't take.
 */
const clusterName = z
  .string()
  .regex(
    /^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$/,
    "must be 1 to 32 lower-case letters, digits and inner hyphens, beginning with a letter",
  );

const apiUrl = z
  .url({ protocol: /^https$/, error: "must be an https URL" })
  .refine(isBareUrl, "must be scheme, host and port only");

/** How the functions reach the Kubernetes API. Paths of files are relative to `directory`. */
const apiSchema = (directory: string) =>
  z
    .strictObject({
      via: z.enum(["relay", "eks"]),
      url: apiUrl,
      caFile: apiCaFile(directory),
      /** EKS only: the cluster's name there, where it isn't `cluster`. */
      eksClusterName: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/, "is no name of an EKS cluster")
        .optional(),
    })
    .refine((api) => api.via !== "relay" || api.eksClusterName === undefined, {
      when: isObject,
      path: ["eksClusterName"],
      error: 'goes with `via: "eks"` only',
    });

const networkSchema = z
  .strictObject({
    vpcId: z.string().regex(/^vpc-[0-9a-f]{8,17}$/, "is no VPC id"),
    /** Private subnets, best one in each zone. */
    subnetIds: z
      .array(z.string().regex(/^subnet-[0-9a-f]{8,17}$/, "is no subnet id"))
      .min(1)
      .max(16),
    securityGroupIds: z
      .array(z.string().regex(/^sg-[0-9a-f]{8,17}$/, "is no security group id"))
      .min(1)
      .max(5),
    /** How SQS and EC2 are reached from the subnets. */
    endpoints: z.enum(["create", "existing", "nat"]),
    /** For `create`: who may use the endpoints. They answer for the whole VPC, so the whole VPC must be let in. */
    vpcCidrs: z.array(z.cidrv4("is no IPv4 range")).max(5).default([]),
  })
  .refine((network) => network.endpoints !== "create" || network.vpcCidrs?.length !== 0, {
    when: isObject,
    path: ["vpcCidrs"],
    error: 'is needed with `endpoints: "create"`: all ranges of the VPC',
  });

const queueSchema = z
  .strictObject({
    /** At most so many invocations at a time; what SQS allows for a mapping. */
    maxConcurrency: z.int().min(2).max(1000).default(10),
    /** Invocations set aside for this function, out of the account's quota. */
    reservedConcurrency: z.int().min(2).max(1000).nullable().default(null),
  })
  .refine((queue) => queue.reservedConcurrency === null || queue.reservedConcurrency >= queue.maxConcurrency, {
    path: ["reservedConcurrency"],
    error: "must be null or at least maxConcurrency, else messages are throttled",
  });

/** What runs every minute without a signal. */
const scheduleSchema = z.strictObject({
  /** Off: everything is there, but nothing runs. */
  enabled: z.boolean().default(true),
  /** Two, since a run may begin while the one before is ending. */
  reservedConcurrency: z.int().min(2).max(1000).nullable().default(null),
});

/** Retentions that CloudWatch Logs takes, up to ten years. */
const RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
] as const;

const deployConfigSchema = (directory: string) =>
  z.strictObject({
    cluster: clusterName,
    /** Left out, they are those of the credentials that deploy. */
    account: z
      .string()
      .regex(/^\d{12}$/, "must be 12 digits")
      .optional(),
    region: z
      .string()
      .refine((region) => stsHost(region) !== undefined, "is no region whose STS we know: tokens are signed for it")
      .optional(),
    api: apiSchema(directory),
    network: networkSchema,
    policy: policySchema.prefault({}),
    /** Roles that may put messages back into the queue, besides the stack's own replay role. */
    replayRoleArns: z
      .array(z.string().regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/, "is no ARN of a role"))
      .max(10)
      .default([]),
    queues: z.strictObject({ urgent: queueSchema.prefault({}) }).prefault({}),
    schedules: z.strictObject({ fencing: scheduleSchema.prefault({}) }).prefault({}),
    alarms: z
      .strictObject({
        topicArn: z
          .string()
          .regex(/^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]+$/, "is no ARN of an SNS topic")
          .optional(),
      })
      .prefault({}),
    logRetentionDays: z.literal(RETENTION_DAYS).default(30),
    /** Never less than INFO: Lambda would drop metric lines too, since they carry no level and count as INFO. */
    logLevel: z.enum(["INFO", "DEBUG"]).default("INFO"),
  });

export type DeployConfig = z.output<ReturnType<typeof deployConfigSchema>>;

/**
 * Checks a configuration; `directory` is what relative paths in it start from.
 * @throws DeployConfigFaults naming every fault with its key and an example of a right value.
 */
export function parseDeployConfig(value: unknown, directory: string): DeployConfig {
  const parsed = deployConfigSchema(directory).safeParse(value, {
    error: (issue) => (issue.input === undefined ? "is missing" : undefined),
  });
  if (parsed.success) return parsed.data;
  throw new DeployConfigFaults(describeFaults(parsed.error));
}

function isBareUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && [url.href, url.href.replace(/\/$/, "")].includes(url.origin);
}

/** Rules between keys run even where one of the keys has a fault of its own, so that all faults show at once. */
function isObject({ value }: { value: unknown }): boolean {
  return typeof value === "object" && value !== null;
}
