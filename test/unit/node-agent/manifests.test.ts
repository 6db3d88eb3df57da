/** What the handed-out manifests of the node agents promise: which rights, on which node, and how a change spreads. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import * as z from "zod";
import { FENCING_LEASE_NAMESPACE } from "../../../shared/domain/fencing-lease.ts";

const NODE_AGENT = new URL("../../../node-agent/", import.meta.url);
const MANIFESTS = new URL("manifests/", NODE_AGENT);
/** The dog's usual time-out. */
const WATCHDOG_SECONDS = 60;

const containerSchema = z.object({
  name: z.string(),
  args: z.array(z.string()),
  ports: z.array(z.object({ containerPort: z.int(), hostIP: z.string().optional() })),
  livenessProbe: z.object({ httpGet: z.object({ host: z.string(), path: z.string() }) }),
  resources: z.object({
    requests: z.record(z.string(), z.string()),
    limits: z.record(z.string(), z.string()),
  }),
  securityContext: z.unknown(),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() })),
});
const daemonSetSchema = z.object({
  spec: z.object({
    minReadySeconds: z.int(),
    updateStrategy: z.object({ rollingUpdate: z.record(z.string(), z.int()) }),
    template: z.object({
      spec: z.object({
        priorityClassName: z.string(),
        automountServiceAccountToken: z.boolean(),
        tolerations: z.array(z.record(z.string(), z.string())),
        securityContext: z.object({ seccompProfile: z.object({ type: z.string() }) }),
        containers: z.array(containerSchema),
        volumes: z.array(z.object({ name: z.string(), hostPath: z.object({ path: z.string() }).optional() })),
      }),
    }),
  }),
});
const ruleSchema = z.object({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  verbs: z.array(z.string()),
});
const roleSchema = z.object({
  kind: z.enum(["Role", "ClusterRole"]),
  metadata: z.object({ namespace: z.string().optional() }),
  rules: z.array(ruleSchema),
});

const text = (file: string) => readFileSync(new URL(file, MANIFESTS), "utf8");
const documents = (file: string) => parseAllDocuments(text(file)).map((document): unknown => document.toJS());

const { spec } = daemonSetSchema.parse(parse(text("base/daemon-set.yaml")));
const pod = spec.template.spec;

describe("the pod of the node agents", () => {
  test.each(pod.containers.map((container) => [container.name, container] as const))(
    "%s has no privilege, no capability and nothing of its own to write",
    (_name, { securityContext }) => {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(pod.securityContext.seccompProfile.type).toBe("RuntimeDefault");
    },
  );

  test.each(pod.containers.map((container) => [container.name, container] as const))(
    "%s keeps the memory that it asked for and is never stopped for using CPU time",
    (_name, { resources }) => {
      expect(resources.limits).toEqual({ memory: resources.requests.memory });
    },
  );

  test("opens and is probed on the loopback of the node only, and lives whatever the API server does", () => {
    for (const { ports, livenessProbe } of pod.containers) {
      expect(ports.map(({ hostIP }) => hostIP)).toEqual(["127.0.0.1"]);
      expect(livenessProbe.httpGet).toMatchObject({ host: "127.0.0.1", path: "/healthz" });
    }
    const ports = pod.containers.flatMap((container) => container.ports.map(({ containerPort }) => containerPort));
    expect(new Set(ports).size).toBe(ports.length);
  });

  test("runs on every node, whatever its taints, and is the last thing that is taken from it", () => {
    expect(pod.tolerations).toEqual([{ operator: "Exists" }]);
    expect(pod.priorityClassName).toBe("system-node-critical");
  });

  test("gets from the node what it needs and nothing more: cgroups, one key, and two folders", () => {
    expect(pod.volumes.flatMap(({ hostPath }) => hostPath?.path ?? [])).toEqual([
      "/sys/fs/cgroup",
      "/proc/sysrq-trigger",
      "/var/lib/nodekeeper/early-oom",
      "/var/lib/nodekeeper/fencing-agent",
    ]);
    const mountsOf = (name: string) =>
      pod.containers.find((container) => container.name === name)?.volumeMounts.map((mount) => mount.name);
    expect(mountsOf("fencing-agent")).toEqual(["api", "state"]);
    expect(mountsOf("early-oom")).toEqual(["api", "cgroup", "sysrq-trigger", "spool"]);
  });

  test("starts programs that the image holds", () => {
    const dockerfile = readFileSync(new URL("Dockerfile", NODE_AGENT), "utf8");
    for (const { args } of pod.containers) {
      const folder = (args[0] ?? "").replace(/\/main\.cjs$/, "");
      expect(dockerfile).toContain(`COPY dist${folder.replace("/app", "")}/ ${folder}/\n`);
    }
  });
});

test("a version that crashes is noticed on one node before the next one gets it", () => {
  expect(spec.updateStrategy.rollingUpdate).toEqual({ maxUnavailable: 1, maxSurge: 0 });
  expect(spec.minReadySeconds).toBeGreaterThanOrEqual(3 * WATCHDOG_SECONDS);
});

describe("the rights of the node agents", () => {
  const roles = documents("base/rbac.yaml").flatMap((document) => roleSchema.safeParse(document).data ?? []);

  test("in the cluster: read a Node, list pods, write Events", () => {
    const cluster = roles.filter(({ kind }) => kind === "ClusterRole").flatMap(({ rules }) => rules);
    expect(cluster).toEqual([
      { apiGroups: [""], resources: ["nodes"], verbs: ["get"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
      { apiGroups: [""], resources: ["events"], verbs: ["create"] },
    ]);
  });

  test("on Leases: in the namespace where fence-node reads them, and never to delete one", () => {
    const [role, ...others] = roles.filter(({ kind }) => kind === "Role");
    expect(others).toEqual([]);
    expect(role?.metadata.namespace).toBe(FENCING_LEASE_NAMESPACE);
    expect(role?.rules).toEqual([
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
    ]);
  });
});

test("the relay's namespace, where an installation without relay makes it, is the relay's to the letter", () => {
  const mine = z.looseObject({ metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }) });
  const ours = mine.parse(parse(text("components/lease-namespace/namespace.yaml")));
  const relays = mine.parse(parse(text("../../relay/manifests/base/namespace.yaml")));
  // The relay's base adds this label to everything.
  const labels = { "app.kubernetes.io/part-of": "nodekeeper", ...relays.metadata.labels };
  expect(ours).toEqual({ ...relays, metadata: { ...relays.metadata, labels } });
});

test("the only component that gives the node's devices away is the one for modes with a dog", () => {
  const privileged = readdirSync(new URL("components/", MANIFESTS)).filter((name) =>
    /privileged: true|path: \/dev$/m.test(text(`components/${name}/kustomization.yaml`)),
  );
  expect(privileged).toEqual(["watchdog-device"]);
});

test("what the builder of an image sees is the bundles and nothing else", () => {
  const lines = readFileSync(new URL("../.dockerignore", NODE_AGENT), "utf8").split("\n");
  expect(lines.filter((line) => line !== "" && !line.startsWith("#"))).toEqual([
    "*",
    "!dist/relay",
    "!dist/early-oom",
    "!dist/fencing-agent",
    "**/*.map",
  ]);
});
