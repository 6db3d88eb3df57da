/**
 * Installing something at most once, though two set-ups may run at the same time: one works, the others wait for it.
 * What is half done is never taken for done, since it gets its name only at the end.
 */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SetupFault, say } from "./output.mjs";

/** Shared by all checkouts of this user; below it everything has a version or a hash in its name. */
export const CACHE_FOLDER = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "nodekeeper");

/** Building Kubernetes is the longest wait: some ten minutes. */
const LOCK_MILLISECONDS = 45 * 60_000;
const LOOK_MILLISECONDS = 500;

/** Runs `install` unless `isDone()` says true, before or after the wait for whoever is at it. */
export async function once(lockName, isDone, install) {
  if (isDone()) return;
  const lock = join(CACHE_FOLDER, "locks", lockName);
  await acquire(lock);
  try {
    if (!isDone()) await install();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

async function acquire(lock) {
  mkdirSync(dirname(lock), { recursive: true });
  const end = Date.now() + LOCK_MILLISECONDS;
  let told = false;
  while (!tryLock(lock)) {
    if (isAbandoned(lock)) {
      rmSync(lock, { recursive: true, force: true });
      continue;
    }
    if (Date.now() > end) throw new SetupFault(`waited too long for another set-up; remove ${lock} if there is none`);
    if (!told) say(`waiting for another set-up that holds ${lock}`);
    told = true;
    await sleep(LOOK_MILLISECONDS);
  }
}

/** Making a folder is atomic: it works for one only. */
function tryLock(lock) {
  try {
    mkdirSync(lock);
  } catch (fault) {
    if (fault.code === "EEXIST") return false;
    throw fault;
  }
  writeFileSync(join(lock, "pid"), String(process.pid));
  return true;
}

/** Left behind by a set-up that was killed. */
function isAbandoned(lock) {
  try {
    return !isAlive(Number(readFileSync(join(lock, "pid"), "utf8")));
  } catch {
    return ageOf(lock) > 5000;
  }
}

function ageOf(folder) {
  const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
  return made === undefined ? 0 : Date.now() - made;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return fault.code === "EPERM";
  }
}
