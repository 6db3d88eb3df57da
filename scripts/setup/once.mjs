/**
 * Installing something at most once, though two set-ups may run at the same time: one works, the others wait for it.
 * What is half done is never taken for done, since it gets its name only at the end.
 */
import { mkdirSync, readdirSync, rmdirSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SetupFault, say } from "./output.mjs";

/** Shared by all checkouts of this user; below it everything has a version or a hash in its name. */
export const CACHE_FOLDER = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "nodekeeper");

/** Building Kubernetes is the longest wait: some ten minutes. */
const LOCK_MILLISECONDS = 45 * 60_000;
const LOOK_MILLISECONDS = 500;
/** Between making a lock and signing it lies an instant; what is unsigned for so long was left by a dead process. */
const UNSIGNED_MILLISECONDS = 5000;

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
    if (removeAbandoned(lock)) continue;
    if (Date.now() > end) throw new SetupFault(`waited too long for another set-up; remove ${lock} if there is none`);
    if (!told) say(`waiting for another set-up that holds ${lock}`);
    told = true;
    await sleep(LOOK_MILLISECONDS);
  }
}

/** Making a folder is atomic: it works for one only. A file in it, named by the process, says whose it is. */
function tryLock(lock) {
  return succeeds(() => {
    mkdirSync(lock);
    writeFileSync(join(lock, String(process.pid)), "");
    return true;
  });
}

/**
 * Removes a lock that a killed set-up left behind, and says whether it did. Several may see it at the same time, and one
 * of them may hold a new lock before the next one acts: so only what was seen is removed, the dead one's file, which
 * works for one only, and then the folder, which works only as long as it is empty.
 */
function removeAbandoned(lock) {
  return succeeds(() => {
    const [holder] = readdirSync(lock);
    if (holder === undefined ? ageOf(lock) < UNSIGNED_MILLISECONDS : isAlive(Number(holder))) return false;
    if (holder !== undefined) unlinkSync(join(lock, holder));
    rmdirSync(lock);
    return true;
  });
}

/** What `step` says; false where another process was quicker: what should be there has gone, or the other way round. */
function succeeds(step) {
  try {
    return step();
  } catch (fault) {
    if (["EEXIST", "ENOENT", "ENOTEMPTY"].includes(fault.code)) return false;
    throw fault;
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
