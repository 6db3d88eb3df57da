/** The clock of the machine: sleeping, and being woken. */
import { expect, test } from "vitest";
import { systemClock } from "../../../shared/adapters/system-clock.ts";

test("a sleep takes its time", async () => {
  const start = systemClock.now().getTime();
  await systemClock.sleep(50);
  expect(systemClock.now().getTime() - start).toBeGreaterThanOrEqual(45);
});

test("a sleeper is woken at once, with the reason of whoever woke it", async () => {
  const reason = new Error("the time of the invocation is over");
  const control = new AbortController();
  const sleeping = systemClock.sleep(60_000, control.signal);
  control.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
});

test("nobody falls asleep when the time is over already", async () => {
  const reason = new Error("over");
  await expect(systemClock.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
});
