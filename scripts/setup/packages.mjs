/** The npm packages, exactly as locked; among them the Node 24 that runs everything else. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ask, execute, REPOSITORY } from "./command.mjs";
import { once } from "./once.mjs";
import { SetupFault, withProgress } from "./output.mjs";

/** Below node_modules, so that it goes when they go. */
const STAMP = join(REPOSITORY, "node_modules/.cache/nodekeeper/packages");

export async function installPackages() {
  const wanted = hash(`${readFileSync(join(REPOSITORY, "package-lock.json"))}${process.platform}${process.arch}`);
  const isDone = () => stampIs(wanted);
  await once(`packages-${hash(REPOSITORY).slice(0, 12)}`, isDone, async () => {
    await withProgress("installing packages", () => execute("npm", ["ci", "--no-audit", "--no-fund"]));
    requireNode24();
    mkdirSync(dirname(STAMP), { recursive: true });
    writeFileSync(STAMP, wanted);
  });
}

function requireNode24() {
  const node = join(REPOSITORY, "node_modules/.bin/node");
  const version = ask(node, ["--version"]) ?? ask("node", ["--version"]) ?? "none";
  if (Number(version.replace(/^v(\d+).*/, "$1")) < 24) {
    throw new SetupFault(`Node 24 came with no package for this machine: install it (found ${version})`);
  }
}

function stampIs(wanted) {
  try {
    return readFileSync(STAMP, "utf8") === wanted;
  } catch {
    return false;
  }
}

function hash(text) {
  return createHash("sha256").update(text).digest("hex");
}
