/** Which suites exist. `unit` and `infra` are quick and alone; the others start real parts and run one file at a time. */
import { defineConfig } from "vitest/config";

const alone = { fileParallelism: false, testTimeout: 60_000, hookTimeout: 120_000 };
/** For a whole story, on a machine that is busy. */
const patient = { testTimeout: 180_000, hookTimeout: 240_000 };

/** Suites of one turn run by the same number of workers, and no suite begins before those of the turn before it ended. */
const turn = (groupOrder: number) => ({ sequence: { groupOrder } });

export default defineConfig({
  test: {
    projects: [
      // Tests share no state: they may share their modules, and half of the time is saved.
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"], isolate: false, testTimeout: 20_000, ...turn(0) } },
      {
        // One process for all: loading the CDK is most of what these tests take.
        test: {
          name: "infra",
          include: ["test/infra/**/*.test.ts"],
          isolate: false,
          fileParallelism: false,
          testTimeout: 30_000,
          hookTimeout: 60_000,
          ...turn(1),
        },
      },
      { test: { name: "contract", include: ["test/contract/**/*.test.ts"], ...alone, ...turn(2) } },
      { test: { name: "integration", include: ["test/integration/**/*.test.ts"], ...alone, ...turn(2) } },
      { test: { name: "local", include: ["test/local/**/*.test.ts"], ...alone, ...patient, ...turn(2) } },
      // An emulated machine takes a whole processor: of the tests that may run at the same time, two do.
      {
        test: {
          name: "guest",
          include: ["test/guest/**/*.test.ts"],
          ...alone,
          ...patient,
          maxConcurrency: 2,
          ...turn(3),
        },
      },
      // The simulation of fencing once more, with 100,000 histories instead of some hundred.
      {
        test: {
          name: "proof",
          include: ["test/unit/fence-node/simulation/*.test.ts"],
          env: { FENCING_HISTORIES: "37500" },
          testTimeout: 1_200_000,
          maxWorkers: 2,
          ...turn(4),
        },
      },
    ],
  },
});
