/** What the handed-out manifests open, and to whom. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";

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
