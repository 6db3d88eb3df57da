/** The deploy configuration: whatever is wrong is said at once, with the key and an example of what is right. */
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { parseDeployConfig } from "../../infra/deploy-config.ts";
import { DeployConfigFaults, EXAMPLE_CONFIG } from "../../infra/deploy-config-faults.ts";
import { FUNCTION_NAMES, roleName } from "../../shared/domain/identity.ts";

const ROOT = resolve(import.meta.dirname, "../..");

const right = {
  cluster: "blue",
  api: { via: "relay", url: "https://relay.example.com:8443", caFile: "infra/example/api-ca.pem" },
  network: {
    vpcId: "vpc-0123456789abcdef0",
    subnetIds: ["subnet-0123456789abcdef0"],
    securityGroupIds: ["sg-0123456789abcdef0"],
    endpoints: "existing",
  },
};

function faultsOf(config: unknown): readonly string[] {
  try {
    parseDeployConfig(config, ROOT);
    return [];
  } catch (error) {
    if (error instanceof DeployConfigFaults) return error.faults;
    throw error;
  }
}

describe("a right configuration", () => {
  test("the example in cdk.json is one", () => {
    const cdkJson = z
      .object({ context: z.object({ nodekeeper: z.unknown() }) })
      .parse(JSON.parse(readFileSync(join(ROOT, "cdk.json"), "utf8")));
    expect(faultsOf(cdkJson.context.nodekeeper)).toEqual([]);
  });

  test("the examples in the messages are one", () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "nodekeeper-config-"));
    writeFileSync(
      join(folder.path, EXAMPLE_CONFIG.api.caFile),
      readFileSync(join(ROOT, "infra/example/api-ca.pem"), "utf8"),
    );
    expect(() => parseDeployConfig(EXAMPLE_CONFIG, folder.path)).not.toThrow();
  });

  test("needs the cluster, the API and the network; the rest has defaults", () => {
    expect(parseDeployConfig(right, ROOT)).toMatchObject({
      queues: { urgent: { maxConcurrency: 10, reservedConcurrency: null } },
      schedules: { fencing: { enabled: true, reservedConcurrency: null } },
      replayRoleArns: [],
      alarms: {},
      logRetentionDays: 30,
      logLevel: "INFO",
      policy: {
        v: 1,
        default: { pdbPatienceSeconds: 20, taint: "NoSchedule", dryRun: false, fencing: { enabled: false } },
      },
    });
    expect(faultsOf({})).toEqual([
      expect.stringMatching(/^cluster: is missing; for example "production"$/),
      expect.stringMatching(/^api: is missing; for example \{"via"/),
      expect.stringMatching(/^network: is missing; for example \{"vpcId"/),
    ]);
  });

  test.each(["eu-west-1", "us-gov-east-1", "cn-north-1", "ap-southeast-12"])("may be in %s", (region) => {
    expect(faultsOf({ ...right, region })).toEqual([]);
  });

  test("the longest name of a cluster still fits the name of every role", () => {
    const longest = "a".repeat(32);
    expect(faultsOf({ ...right, cluster: longest })).toEqual([]);
    for (const fn of [...FUNCTION_NAMES, "replay"] as const)
      expect(roleName(longest, fn).length).toBeLessThanOrEqual(64);
  });

  test("the certificates are told apart from the text around them, and the example is known as such", () => {
    const { caFile } = parseDeployConfig(right, ROOT).api;
    expect(caFile.pem).toMatch(/^-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----\n$/);
    expect(caFile.isExample).toBe(true);
  });
});

test("every key of the configuration is documented", () => {
  const documented = readFileSync(join(ROOT, "docs/configuration.md"), "utf8");
  const { policy, ...rest } = EXAMPLE_CONFIG;
  const byKey = { policy: { default: policy.default, fencing: policy.fencing } };
  const keys = [...leavesOf(rest), ...leavesOf(byKey), ...sectionsOf({ policy })];
  expect(keys.length).toBeGreaterThan(20);
  for (const key of keys) expect(documented).toContain(`\`${key}\``);
});

test("all faults are reported at once, each with its key and an example", () => {
  const faults = faultsOf({
    clustr: "blue",
    cluster: "Blue.example.com",
    account: "1234",
    region: "mars",
    api: { via: "relay", url: 5, caFile: "missing.pem", token: "x", eksClusterName: "Blue" },
    network: { vpcId: 5, subnetIds: [], securityGroupIds: ["sg-1"], endpoints: "create" },
    policy: { default: { taint: "Never", fencing: { proof: "hope" } }, fencing: { maxShare: 1 }, dryRun: true },
    replayRoleArns: ["admin"],
    queues: { urgent: { maxConcurrency: 1, reservedConcurrency: 0 } },
    schedules: { fencing: { enabled: "yes", reservedConcurrency: 1 } },
    alarms: { topicArn: "alerts" },
    logRetentionDays: 42,
    logLevel: "WARN",
  });
  const keys = faults.map((fault) => fault.slice(0, fault.indexOf(": ")));
  expect(keys.sort()).toEqual([
    "account",
    "alarms.topicArn",
    "api.caFile",
    "api.eksClusterName",
    "api.token",
    "api.url",
    "cluster",
    "clustr",
    "logLevel",
    "logRetentionDays",
    "network.securityGroupIds.0",
    "network.subnetIds",
    "network.vpcCidrs",
    "network.vpcId",
    "policy.default.fencing.proof",
    "policy.default.taint",
    "policy.dryRun",
    "policy.fencing.maxShare",
    "queues.urgent.maxConcurrency",
    "queues.urgent.reservedConcurrency",
    "queues.urgent.reservedConcurrency",
    "region",
    "replayRoleArns.0",
    "schedules.fencing.enabled",
    "schedules.fencing.reservedConcurrency",
  ]);
  for (const fault of faults) expect(fault).toMatch(/; (for example .+|known here: .+)$/);
});

describe("refused", () => {
  test.each([
    [
      "a cluster's name with capitals, which IAM wouldn't tell apart",
      { cluster: "Blue" },
      /^cluster: .*; for example "production"$/,
    ],
    ["a cluster's name that is too long for a role", { cluster: "a".repeat(33) }, /^cluster: must be 1 to 32/],
    [
      "a region in which no token could be signed",
      { region: "us-iso-east-1" },
      /^region: is no region whose STS we know.*; for example "eu-west-1"$/,
    ],
    ["a key that nobody reads", { retention: 3 }, /^retention: is no key; known here: cluster, account/],
    ["a way to the API that doesn't exist", api({ via: "tunnel" }), /^api\.via: .*"relay"\|"eks"; for example "eks"$/],
    ["a plain-http API", api({ url: "http://relay:8080" }), /^api\.url: must be an https URL; for example "https:/],
    ["an API with a path", api({ url: "https://relay/k8s" }), /^api\.url: must be scheme, host and port only/],
    ["an API with credentials", api({ url: "https://me:secret@relay" }), /^api\.url: must be scheme, host/],
    ["a CA file that isn't there", api({ caFile: "nowhere.pem" }), /^api\.caFile: can't be used: ENOENT/],
    ["a CA file without a certificate", api({ caFile: "package.json" }), /^api\.caFile: can't be used: no certificate/],
    ["an EKS name towards the relay", api({ eksClusterName: "Blue" }), /^api\.eksClusterName: goes with `via: "eks"`/],
    ["endpoints for a VPC of unknown extent", network({ endpoints: "create" }), /^network\.vpcCidrs: is needed with/],
    [
      "a reservation smaller than the concurrency",
      queue({ maxConcurrency: 30, reservedConcurrency: 10 }),
      /^queues\.urgent\.reservedConcurrency: must be null or at least/,
    ],
    [
      "more concurrency than a mapping takes",
      queue({ maxConcurrency: 1001 }),
      /^queues\.urgent\.maxConcurrency: .*; for example 10$/,
    ],
    [
      "a selector that would match every node",
      { policy: { ignore: [{}] } },
      /^policy\.ignore\.0: names no label.*; for example \{"matchLabels"/,
    ],
    ["a log level that would drop metrics", { logLevel: "ERROR" }, /^logLevel: .*; for example "INFO"$/],
  ])("%s", (_, change, fault) => {
    expect(faultsOf({ ...right, ...change })).toEqual([expect.stringMatching(fault)]);
  });

  test("no configuration at all", () => {
    expect(faultsOf(undefined)).toEqual([expect.stringMatching(/^nodekeeper: is missing; for example/)]);
    expect(faultsOf("production")).toHaveLength(1);
  });

  test("the message lists the faults line by line", () => {
    expect(() => parseDeployConfig({ ...right, cluster: 7, logLevel: 7 }, ROOT)).toThrow(
      /^checking the deploy configuration: 2 to mend\n {2}- cluster: .+\n {2}- logLevel: .+$/,
    );
  });
});

function api(change: object) {
  return { api: { ...right.api, ...change } };
}

function network(change: object) {
  return { network: { ...right.network, ...change } };
}

function queue(urgent: object) {
  return { queues: { urgent } };
}

/** Dotted paths of all values that are no objects. */
function leavesOf(value: unknown, path: readonly string[] = []): readonly string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [path.join(".")];
  return Object.entries(value).flatMap(([key, one]) => leavesOf(one, [...path, key]));
}

/** Dotted paths of the keys of each section; those of `policy.default` and `policy.fencing` are documented one by one. */
function sectionsOf(sections: Record<string, object>): readonly string[] {
  return Object.entries(sections).flatMap(([name, keys]) =>
    Object.keys(keys)
      .filter((key) => key !== "default" && key !== "fencing")
      .map((key) => `${name}.${key}`),
  );
}
