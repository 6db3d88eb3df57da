/**
 * Suites that need real programs. Where one is missing the suite is skipped by name, so that nobody takes silence for
 * success; on CI it is an error, because there every suite must run.
 */
import { describe } from "vitest";
import { type ProgramName, searchProgram } from "./parts.ts";

/** What a suite can ask for, as the programs that it takes. */
const NEEDS = {
  "control plane": ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok"],
  emulator: ["emulator-python"],
  moto: ["moto-python"],
  guest: ["qemu", "busybox", "cpio", "guest-kernel"],
  "image builder": ["buildah"],
} as const satisfies Record<string, readonly ProgramName[]>;

export type Need = keyof typeof NEEDS;

/** `describe`, if everything it needs is there. @throws on CI if something isn't. */
export function describeReal(name: string, needs: readonly Need[], suite: () => void): void {
  const missing = describeMissing(needs.flatMap((need) => NEEDS[need]));
  if (missing === undefined) {
    describe(name, suite);
    return;
  }
  if (process.env.CI) throw new Error(`running "${name}" on CI, where nothing may be skipped: ${missing}`);
  describe.skip(`${name} (${missing})`, suite);
}

/** Such as `no etcd, kwok: run: npm run setup`; each reason once. */
function describeMissing(programs: readonly ProgramName[]): string | undefined {
  const byReason = new Map<string, ProgramName[]>();
  for (const program of programs) {
    const search = searchProgram(program);
    if (search.kind === "missing") byReason.set(search.because, [...(byReason.get(search.because) ?? []), program]);
  }
  if (byReason.size === 0) return undefined;
  return [...byReason].map(([because, names]) => `no ${names.join(", ")}: ${because}`).join("; ");
}
