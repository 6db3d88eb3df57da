/** The second port bounds what anybody who reaches it can hold open. */
import { once } from "node:events";
import * as net from "node:net";
import { expect, test } from "vitest";
import { createMetrics } from "../../../relay/metrics.ts";
import { createOps } from "../../../relay/ops.ts";

test("the second port holds 100 connections; the next is closed, and a place that is left is free", async () => {
  const metrics = createMetrics();
  await using ops = createOps({ version: "test", metrics, notReadyBecause: async () => undefined });
  await once(ops.listen(0, "127.0.0.1"), "listening");
  using ending = new DisposableStack();
  ending.defer(() => ops.closeAllConnections());
  const address = ops.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  const idle = Array.from({ length: 100 }, () => net.connect(port, "127.0.0.1"));
  await Promise.all(idle.map((socket) => once(socket, "connect")));
  expect(await answerTo(port)).toBe("");

  idle[0]?.destroy();
  await expect.poll(() => answerTo(port), { timeout: 3_000 }).toMatch(/^HTTP\/1.1 200/);
});

/** All that comes back before the connection is closed, in whatever way. */
async function answerTo(port: number): Promise<string> {
  const socket = net.connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => {});
  socket.write("GET /healthz HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n");
  await new Promise((resolve) => socket.once("close", resolve));
  return Buffer.concat(chunks).toString();
}
