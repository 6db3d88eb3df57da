/** The port of the pages is taken: the agent goes on, says so once, and serves them when it gets it. */
import { expect, onTestFinished, test } from "vitest";
import type { Log } from "../../../node-agent/log.ts";
import { OpsPages } from "../../../node-agent/ops-pages.ts";
import { serveOps } from "../../../node-agent/ops-server.ts";
import { Problems } from "../../../node-agent/problems.ts";

test("a port that is taken ends nothing, is said once, and is taken when it is free", async () => {
  const other = await serveOps(0, {});
  const lines: string[] = [];
  const log: Log = (_level, message) => lines.push(message);
  const problems = new Problems(log);
  const paths = { "/healthz": () => ({ status: 200, body: "ok\n" }) };
  const pages = new OpsPages({ port: other.port, paths, problems, log });
  onTestFinished(() => pages.close());
  await pages.turn();
  await pages.turn();
  expect(pages.port).toBe(undefined);
  expect(problems.all).toEqual([expect.stringMatching(/^serving the pages on port \d+: .*EADDRINUSE/)]);
  other.close();
  await pages.turn();
  await pages.turn();
  const answer = await fetch(`http://127.0.0.1:${pages.port}/healthz`, { signal: AbortSignal.timeout(5_000) });
  expect(await answer.text()).toBe("ok\n");
  expect(lines).toEqual(["problem found", "problem gone", "pages are served"]);
});
