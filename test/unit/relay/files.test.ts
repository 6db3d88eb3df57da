/** Files that change under a running relay: what is good comes into use, what isn't stays outside and is told once. */
import { mkdtemp, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkCa, checkToken } from "../../../relay/tls-files.ts";
import { followFiles } from "../../../relay/watched-files.ts";
import { createAuthority } from "../../rig/pki.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodekeeper-relay-files-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const used: string[] = [];
const reports: string[] = [];
beforeEach(() => {
  used.length = 0;
  reports.length = 0;
});

function follow(path: string) {
  return followFiles(
    {
      name: "settings",
      paths: [path],
      use: (text = "") => {
        if (text.includes("bad")) throw new Error("it is bad");
        used.push(text);
      },
    },
    { everySeconds: 300, report: (_name, result, because) => reports.push(`${result} ${because ?? ""}`.trim()) },
  );
}

describe("a watched file", () => {
  test("is taken into use when it changes, and only then", async () => {
    const path = join(folder, "changes");
    await writeFile(path, "one");
    const watch = await follow(path);
    await watch.check();
    expect(used).toEqual(["one"]);
    await writeFile(path, "two");
    await watch.check();
    await watch.check();
    expect(used).toEqual(["one", "two"]);
    expect(reports).toEqual(["loaded"]);
    watch.stop();
  });
  test("is taken into use when the symbolic link above it is swapped, as the kubelet does", async () => {
    await writeFile(join(folder, "v1"), "one");
    await writeFile(join(folder, "v2"), "two");
    const path = join(folder, "link");
    await symlink("v1", path);
    const watch = await follow(path);
    await unlink(path);
    await symlink("v2", path);
    await watch.check();
    expect(used).toEqual(["one", "two"]);
    watch.stop();
  });
  test("that isn't acceptable is told once and leaves what is in use, until a good one comes", async () => {
    const path = join(folder, "bad");
    await writeFile(path, "one");
    const watch = await follow(path);
    await writeFile(path, "bad");
    await watch.check();
    await watch.check();
    expect(used).toEqual(["one"]);
    expect(reports).toEqual(["refused it is bad"]);
    await writeFile(path, "good");
    await watch.check();
    expect(used).toEqual(["one", "good"]);
    await writeFile(path, "bad again");
    await watch.check();
    expect(reports).toEqual(["refused it is bad", "loaded", "refused it is bad"]);
    watch.stop();
  });
  test("that goes away for a while leaves what is in use", async () => {
    const path = join(folder, "away");
    await writeFile(path, "one");
    const watch = await follow(path);
    await unlink(path);
    await watch.check();
    await watch.check();
    expect(reports).toHaveLength(1);
    await writeFile(path, "two");
    await watch.check();
    expect(used).toEqual(["one", "two"]);
    watch.stop();
  });
  test("that was away and comes back as it was is told again when it goes bad", async () => {
    const path = join(folder, "back");
    await writeFile(path, "one");
    const watch = await follow(path);
    await unlink(path);
    await watch.check();
    await writeFile(path, "one");
    await watch.check();
    await writeFile(path, "bad");
    await watch.check();
    expect(reports).toEqual([expect.stringMatching(/^refused ENOENT/), "refused it is bad"]);
    expect(used).toEqual(["one"]);
    watch.stop();
  });
  test("that goes from bad to worse is told each time, and nothing more when it is again what is in use", async () => {
    const path = join(folder, "worse-and-worse");
    await writeFile(path, "one");
    const watch = await follow(path);
    for (const text of ["bad", "bad too", "bad too", "one", "bad too"]) {
      await writeFile(path, text);
      await watch.check();
    }
    expect(reports).toEqual(["refused it is bad", "refused it is bad", "refused it is bad"]);
    expect(used).toEqual(["one"]);
    watch.stop();
  });
  test("that is missing or not acceptable at the start is an error", async () => {
    await expect(follow(join(folder, "never"))).rejects.toThrow(/ENOENT/);
    await writeFile(join(folder, "worse"), "bad");
    await expect(follow(join(folder, "worse"))).rejects.toThrow("it is bad");
  });
});

test.each(["", "  \n", "two words", "line\nbreak", "\u00fc"])("the token file '%s' holds no token", (text) => {
  expect(() => checkToken(text)).toThrow();
});
test("a token may end in a line break", () => {
  expect(checkToken("token\n")).toBe("token");
});
test("a CA bundle must begin with a certificate, and may hold two during a rotation", async () => {
  const [one, two] = [await createAuthority(), await createAuthority()];
  expect(() => checkCa("")).toThrow();
  expect(() => checkCa("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")).toThrow();
  const both = `${one.certPem}\n${two.certPem}\n`;
  expect(checkCa(both)).toBe(both);
});
