/**
 * Goes the whole way of a strike without striking: can everything be read and written that will be needed in the worst
 * minute? What is missing is said at once, and the agent goes on with what is left.
 */
import { accessSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";
import { reasonOf } from "../log.ts";
import type { Settings } from "./env.ts";
import type { CgroupLayout, CgroupScan, MemorySample, StrikeMode } from "./words.ts";

export interface TestedParts {
  /** @throws where memory can't be read. */
  readonly look: () => MemorySample;
  readonly layout: CgroupLayout;
  /** Of that layout. */
  readonly scan: () => CgroupScan | undefined;
}

export interface SelfTest {
  /** How a strike is possible on this node; what was asked for where both ways are open. */
  readonly mode: StrikeMode;
  /** Sentences for an operator; empty where all is well. */
  readonly problems: readonly string[];
}

export function testSelf({ look, layout, scan }: TestedParts, settings: Settings): SelfTest {
  const { paths, mode, dryRun, podUid, rules } = settings;
  const problems: string[] = [];
  const check = (what: string, test: () => void): boolean => {
    try {
      test();
      return true;
    } catch (error) {
      problems.push(`${what}: ${reasonOf(error)}`);
      return false;
    }
  };

  if (!rules.a && !rules.b && !rules.c) problems.push("no rule is on: nothing is ever struck");
  check("memory can't be read", () => {
    const { pressure } = look();
    if (pressure.kind === "unavailable") problems.push(`no memory pressure, so only rule A works: ${pressure.because}`);
  });
  check("the kernel's killer can't be asked", () => accessSync(paths.sysrqTrigger, constants.W_OK));
  if (!dryRun) {
    check("Events can't be kept", () => {
      mkdirSync(paths.spool, { recursive: true });
      accessSync(paths.spool, constants.W_OK);
    });
  }
  if (mode === "kernel") return { mode, problems };

  const canEnd = check("no container can be ended as a whole, so the kernel is left to choose", () => {
    if (layout.kind === "none") throw new Error(layout.because);
    for (const kubepods of layout.kubepods) accessSync(join(paths.cgroup, kubepods, "cgroup.kill"), constants.W_OK);
  });
  check("the containers can't be read", () => {
    const { containers } = scan() ?? { containers: [] };
    const isSeen = containers.some((container) => container.podUid === podUid);
    if (canEnd && !isSeen) throw new Error(`our own pod ${podUid} isn't among ${containers.length} containers`);
  });
  return { mode: canEnd ? "cgroup" : "kernel", problems };
}
