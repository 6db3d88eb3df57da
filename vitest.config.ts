/** Which suites exist. `unit` and `infra` are quick and alone; the others start real parts and run one file at a time. */
import { defineConfig } from "vitest/config";

const alone = { fileParallelism: false, testTimeout: 60_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    projects: [
      // Tests share no state: they may share their modules, and half of the time is saved.
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"], isolate: false, testTimeout: 20_000 } },
      {
        // One process for all: loading the CDK is most of what these tests take.
        test: {
          name: "infra",
          include: ["test/infra/**/*.test.ts"],
          isolate: false,
          fileParallelism: false,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      { test: { name: "contract", include: ["test/contract/**/*.test.ts"], ...alone } },
      { test: { name: "integration", include: ["test/integration/**/*.test.ts"], ...alone } },
      {
        test: {
          name: "local",
          include: ["test/local/**/*.test.ts"],
          ...alone,
          testTimeout: 180_000,
          hookTimeout: 240_000,
        },
      },
      {
        test: {
          name: "guest",
          include: ["test/guest/**/*.test.ts"],
          ...alone,
          testTimeout: 180_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
});
