/** The port of the pages is taken: the agent goes on, says so once, and serves them when it gets it. */
import { expect, test } from "vitest";
import { servePages } from "../../../../node-agent/fencing/serve-pages.ts";
import type { Log } from "../../../../node-agent/log.ts";
import { serveOps } from "../../../../node-agent/ops-server.ts";
import { waitUntil } from "../../../rig/wait.ts";

test("a port that is taken ends nothing, is said once, and is taken when it is free", async () => {
  const other = await serveOps(0, {});
  const lines: string[] = [];
  const log: Log = (level, message) => lines.push(`${level}: ${message}`);
  const pages = { "/healthz": () => ({ status: 200, body: "ok\n" }) };
  await servePages({ port: other.port, pages, log, againMs: 20 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(lines).toEqual(["error: pages are not served, the port is tried again"]);
  other.close();
  await waitUntil("the pages are served", () => lines.includes("info: pages are served"));
  const answer = await fetch(`http://127.0.0.1:${other.port}/healthz`, { signal: AbortSignal.timeout(5_000) });
  expect(await answer.text()).toBe("ok\n");
});
