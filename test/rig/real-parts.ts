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
} as const satisfies Record<string, readonly ProgramName[]>;

export type Need = keyof typeof NEEDS;

/** `describe`, if everything it needs is there. @throws on CI if something isn't. */
export function describeReal(name: string, needs: readonly Need[], suite: () => void): void {
  const missing = needs.flatMap((need) => NEEDS[need].flatMap(reasonIfMissing));
  if (missing.length === 0) {
    describe(name, suite);
    return;
  }
  if (process.env.CI) throw new Error(`running "${name}" on CI, where nothing may be skipped: ${missing.join("; ")}`);
  describe.skip(`${name} (skipped: ${missing.join("; ")})`, suite);
}

function reasonIfMissing(program: ProgramName): string[] {
  const search = searchProgram(program);
  return search.kind === "found" ? [] : [`${program}: ${search.because}`];
}
