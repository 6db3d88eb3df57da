/** What can't be seen in the worst minute must not keep us from striking: it is said, and counts as unknown. */
import { reasonOf } from "../log.ts";
import type { Journal } from "./journal.ts";
import type { Eyes } from "./parts.ts";

/** Eyes that never throw, but for memory itself: without that there is nothing to decide. */
export function dareToLook(eyes: Eyes, journal: Journal): Eyes {
  const dare = <T>(problem: string, read: () => T): T | undefined => {
    try {
      const seen = read();
      journal.found(problem, []);
      return seen;
    } catch (error) {
      journal.found(problem, [`${problem}: ${reasonOf(error)}`]);
      return undefined;
    }
  };
  return {
    look: eyes.look,
    scan: () => dare("the containers can't be read", eyes.scan),
    oomKills: () => dare("the kernel's kills can't be counted", eyes.oomKills),
    isGone: (cgroup) => dare("what became of a container can't be read", () => eyes.isGone(cgroup)) ?? false,
  };
}
