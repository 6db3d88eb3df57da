/** What the handed-out manifests open, and to whom. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import * as z from "zod";
import { ROLES, usersOf } from "../../../relay/permissions.ts";

const MANIFESTS = new URL("../../../relay/manifests/", import.meta.url);
const MONITORING = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } };

const peers = z.array(z.record(z.string(), z.unknown()));
const policySchema = z.object({
  spec: z.object({
    ingress: z.array(z.object({ ports: z.array(z.object({ port: z.string() })), from: peers.optional() })),
  }),
});
const deploymentSchema = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        containers: z.array(z.object({ env: z.array(z.object({ name: z.string(), value: z.string() })) })),
      }),
    }),
  }),
});
const overlaySchema = z.object({
  patches: z.array(z.object({ target: z.object({ kind: z.string() }), patch: z.string() })),
});

const fairnessSchema = z.object({
  kind: z.string(),
  spec: z.object({
    priorityLevelConfiguration: z.object({ name: z.string() }).optional(),
    rules: z.array(z.object({ subjects: z.array(z.object({ user: z.object({ name: z.string() }) })) })).default([]),
  }),
});

function read(file: string): unknown {
  return parse(readFileSync(new URL(file, MANIFESTS), "utf8"));
}

test("the relay listens on both address families, so that it works in an IPv6 cluster too", () => {
  const { containers } = deploymentSchema.parse(read("base/deployment.yaml")).spec.template.spec;
  expect(containers[0]?.env).toContainEqual({ name: "LISTEN_ADDRESS", value: "::" });
});

test("the second port is open to the namespace of the monitoring only", () => {
  const { ingress } = policySchema.parse(read("base/network-policy.yaml")).spec;
  const ops = ingress.filter(({ ports }) => ports.some(({ port }) => port === "ops"));
  expect(ops).toEqual([{ ports: [{ port: "ops" }], from: [MONITORING] }]);
});

test("behind the load balancer the second port is open to its subnets besides, never to everybody", () => {
  const { patches } = overlaySchema.parse(read("overlays/internal-nlb/kustomization.yaml"));
  const patch = patches.find(({ target }) => target.kind === "NetworkPolicy")?.patch ?? "";
  const value = { ipBlock: { cidr: "192.0.2.0/24" } };
  expect(parse(patch)).toEqual([{ op: "add", path: "/spec/ingress/1/from/-", value }]);
});

test("every user has a share of the API server of its own, so that none of them waits for the others or for everybody", () => {
  const objects = parseAllDocuments(readFileSync(new URL("base/priority-and-fairness.yaml", MANIFESTS), "utf8"))
    .map((document) => fairnessSchema.parse(document.toJS()))
    .filter(({ kind }) => kind === "FlowSchema");
  const flows = objects.map(({ spec }) => ({
    level: spec.priorityLevelConfiguration?.name,
    users: spec.rules.flatMap(({ subjects }) => subjects.map(({ user }) => user.name)),
  }));
  expect(flows.flatMap(({ users }) => users).sort()).toEqual([...usersOf(ROLES)].sort());
  expect(new Set(flows.map(({ level }) => level)).size).toBe(flows.length);
});

test("the example of identities names every user, each for the role of its function", () => {
  const [, identities] = parseAllDocuments(readFileSync(new URL("base/configuration.yaml", MANIFESTS), "utf8"));
  const { data } = z.object({ data: z.object({ "identities.json": z.string() }) }).parse(identities?.toJS());
  const map = z.record(z.string(), z.string()).parse(JSON.parse(data["identities.json"]));
  expect(Object.values(map)).toEqual(usersOf(ROLES));
  for (const [role, user] of Object.entries(map))
    expect(role.split("nodekeeper-example-")[1]).toBe(user.replace("nodekeeper:", ""));
});

test("the kustomization moves nothing out of a namespace that is written down, such as that of the kubelets' Leases", () => {
  const schema = z.object({ namespace: z.string().optional(), transformers: z.array(z.string()) });
  const { namespace, transformers } = schema.parse(read("base/kustomization.yaml"));
  expect(namespace).toBeUndefined();
  expect(transformers.map((one) => parse(one))).toEqual([
    expect.objectContaining({ kind: "NamespaceTransformer", unsetOnly: true }),
  ]);
});
