/** The commands in the documents do what they are for when they are copied, and the figures beside them are the real ones. */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const DOCUMENTS = ["README.md", ...globSync("docs/*.md", { cwd: ROOT })];

describe.each(DOCUMENTS)("%s", (document) => {
  const text = readFileSync(join(ROOT, document), "utf8");

  test("lets the CDK take what was synthesized, not the example in cdk.json", () => {
    const commands = text.match(/npx cdk (?:bootstrap|deploy|destroy|diff)\b[^\n`#]*/g) ?? [];
    for (const command of commands) expect(command).toContain("--app cdk.out");
  });

  test("links to sections that exist", () => {
    for (const [, file, anchor] of text.matchAll(/\]\(([\w./-]*)#([\w-]+)\)/g)) {
      const target = file === "" ? text : readFileSync(join(ROOT, document, "..", `${file}`), "utf8");
      expect(anchorsOf(target)).toContain(anchor);
    }
  });
});

test("the documented bound of concurrency is what the relay lets through at 16 requests each", () => {
  const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
  const perInvocation = figure(read("shared/adapters/kube-transport.ts"), /MAX_SOCKETS = (\d+)/);
  const settings = read("relay/env.ts");
  const requests = figure(settings, /MAX_REQUESTS_PER_USER: .*default\((\d+)\)/);
  const connections = figure(settings, /MAX_CONNECTIONS_PER_SOURCE: .*default\((\d+)\)/);

  const documented = read("docs/configuration.md");
  expect(documented).toContain(`up to ${perInvocation} requests under way`);
  expect(largestBelow(requests, perInvocation)).toBe(
    figure(documented, /MAX_REQUESTS_PER_USER.*`maxConcurrency` (\d+)/),
  );
  expect(largestBelow(connections, perInvocation)).toBe(
    figure(documented, /MAX_CONNECTIONS_PER_SOURCE.*address \| (\d+)/),
  );
});

/** As GitHub makes them of headings. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

function figure(text: string, pattern: RegExp): number {
  const found = text.match(pattern)?.[1];
  if (found === undefined) throw new Error(`looking for ${pattern}: nothing like it`);
  return Number(found);
}

function largestBelow(limit: number, each: number): number {
  return Math.ceil(limit / each) - 1;
}
