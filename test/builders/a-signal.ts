/** Builds signals for tests: what a test doesn't name is a termination notice with EC2's two minutes. */
import type { SpotInterruption } from "../../shared/domain/signal.ts";
import { AN_INSTANCE_ID } from "./a-node.ts";

const NOTICE_MS = 120_000;

/** A notice at 2026-01-01T12:00:00Z for AN_INSTANCE_ID; unless given, its deadline is two minutes after `at`. */
export function aSpotInterruption(given: Partial<SpotInterruption> = {}): SpotInterruption {
  const at = given.at ?? new Date("2026-01-01T12:00:00Z");
  return {
    kind: "spot-interruption",
    id: "12345678-1234-4123-8123-123456789012",
    instanceId: AN_INSTANCE_ID,
    at,
    action: "terminate",
    deadline: new Date(at.getTime() + NOTICE_MS),
    ...given,
  };
}
