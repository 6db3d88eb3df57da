/**
 * The images as their Dockerfiles make them: what is in them, as whom it runs, and that the manifests start what is
 * there, with settings that it knows.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { describeReal } from "../../rig/real-parts.ts";
import { type BuiltImage, type ImageBuilder, startImageBuilder } from "../../support/image-builder.ts";

const REPOSITORY = join(import.meta.dirname, "../../..");
const MANIFESTS = join(REPOSITORY, "node-agent/manifests");

const envSchema = z.object({ name: z.string(), value: z.string().optional() });
const podSchema = z.object({
  containers: z.array(
    z.object({
      name: z.string(),
      args: z.array(z.string()).default([]),
      env: z.array(envSchema).default([]),
    }),
  ),
});
const daemonSetSchema = z.object({ spec: z.object({ template: z.object({ spec: podSchema }) }) });
const componentSchema = z.object({
  patches: z.array(z.object({ patch: z.string() })).default([]),
  configMapGenerator: z.array(z.object({ literals: z.array(z.string()) })).default([]),
});

const readYaml = (file: string): unknown => parse(readFileSync(join(MANIFESTS, file), "utf8"));
const COMPONENTS = readdirSync(join(MANIFESTS, "components")).map((name) =>
  componentSchema.parse(readYaml(`components/${name}/kustomization.yaml`)),
);
const { containers } = daemonSetSchema.parse(readYaml("base/daemon-set.yaml")).spec.template.spec;

describeReal("the images", ["image builder"], () => {
  let builder: ImageBuilder;

  beforeAll(async () => {
    builder = await startImageBuilder();
  }, 240_000);
  afterAll(() => builder?.[Symbol.asyncDispose]());

  describe("of the node agents", () => {
    let image: BuiltImage;
    beforeAll(async () => {
      image = await builder.build("node-agent/Dockerfile");
    }, 240_000);

    test("holds both agents, each in one file, and nothing else of ours", () => {
      expect(image.files).toEqual(["/app/early-oom/main.cjs", "/app/fencing-agent/main.cjs"]);
    });

    test("runs as root, whom cgroup.kill and the watchdog obey", () => {
      expect(image.user).toBe("0:0");
    });

    test("started without arguments explains itself", async () => {
      expect(await image.start(image.command)).toMatchObject({ exitCode: 0 });
    });

    test.each(containers.map(({ name, args, env }) => [name, args, env] as const))(
      "%s starts as the DaemonSet starts it, gets what it must be given, and knows each setting that it gets",
      async (name, args, env) => {
        const { exitCode, output } = await image.start([...args, "--help"]);
        expect(exitCode).toBe(0);
        const required = [...output.matchAll(/^ *([A-Z_]+) \(.*; required\)$/gm)].map((match) => match[1]);
        expect(required).toContain("NODE_NAME");
        expect(env.map((one) => one.name)).toEqual(expect.arrayContaining(required));
        const settings = [...env, ...patchedEnv(name)].filter(({ value }) => value !== undefined);
        const known = new Set(output.match(/\b[A-Z][A-Z_]+\b/g));
        expect(settings.filter((setting) => !known.has(setting.name))).toEqual([]);
      },
    );

    test("between them the agents know every key that a component puts into their ConfigMap", async () => {
      const help = await Promise.all(containers.map(({ args }) => image.start([...args, "--help"])));
      const known = help.map(({ output }) => output).join("\n");
      for (const key of settingsOfComponents()) expect(known).toContain(key);
    });
  });

  describe("of the relay", () => {
    let image: BuiltImage;
    beforeAll(async () => {
      image = await builder.build("relay/Dockerfile");
    }, 240_000);

    test("holds the bundle and nothing else of ours, and doesn't run as root", () => {
      expect(image.files.filter((file) => !/^\/app\/(main|chunks\/.+)\.mjs$/.test(file))).toEqual([]);
      expect(image.user).toBe("65532:65532");
    });

    test("starts, and says at once which settings it misses", async () => {
      const { exitCode, output } = await image.start(image.command);
      expect(exitCode).toBe(1);
      expect(output).toMatch(/relay did not start.*CLUSTER_NAME.*AWS_REGION/);
    });
  });
});

/** What components add to the environment of this container. */
function patchedEnv(container: string): readonly z.infer<typeof envSchema>[] {
  return COMPONENTS.flatMap(({ patches }) => patches)
    .flatMap(({ patch }) => daemonSetSchema.safeParse(parse(patch)).data?.spec.template.spec.containers ?? [])
    .filter(({ name }) => name === container)
    .flatMap(({ env }) => env);
}

function settingsOfComponents(): readonly string[] {
  const base = componentSchema.parse(readYaml("base/kustomization.yaml"));
  return [base, ...COMPONENTS]
    .flatMap(({ configMapGenerator }) => configMapGenerator)
    .flatMap(({ literals }) => literals)
    .map((literal) => literal.split("=")[0] ?? "");
}
