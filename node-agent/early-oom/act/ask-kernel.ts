/** Asks the kernel's own out-of-memory killer to choose and kill: the last resort, and all that mode `kernel` does. */
import { closeSync, writeSync } from "node:fs";
import { reasonOf } from "../../log.ts";
import { openForWriting } from "./end-container.ts";

export type Asked = { readonly kind: "asked" } | { readonly kind: "failed"; readonly because: string };

/**
 * Root may write it whatever `kernel.sysrq` says, which binds keyboards only; the kernel works it off a moment later and
 * doesn't answer: https://docs.kernel.org/admin-guide/sysrq.html
 *
 * @param dryRun everything but the write.
 */
export function askKernel(sysrqTrigger: string, dryRun: boolean): Asked {
  try {
    const file = openForWriting(sysrqTrigger);
    try {
      if (!dryRun) writeSync(file, "f");
    } finally {
      closeSync(file);
    }
    return { kind: "asked" };
  } catch (error) {
    return { kind: "failed", because: `asking the kernel's killer: ${reasonOf(error)}` };
  }
}
