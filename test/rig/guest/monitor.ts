/** QEMU's own monitor, which can hold a guest's time. https://www.qemu.org/docs/master/interop/qmp-spec.html */
import * as z from "zod";
import { connectLines } from "./line-socket.ts";
import type { Until } from "./until.ts";

export interface Monitor extends Disposable {
  execute(command: "stop" | "cont"): Promise<void>;
}

const messageSchema = z.object({ id: z.int().optional(), error: z.object({ desc: z.string() }).optional() });
const ANSWER_MILLISECONDS = 10_000;

export async function connectMonitor(path: string, until: Until): Promise<Monitor> {
  /** What each answered command's fault was. */
  const answers = new Map<number, string | undefined>();
  let sent = 0;
  const lines = await connectLines(path, (line) => {
    // What has no id are greetings and events.
    const { id, error } = messageSchema.parse(JSON.parse(line));
    if (id !== undefined) answers.set(id, error?.desc);
  });

  async function execute(command: string): Promise<void> {
    sent += 1;
    const id = sent;
    lines.send(JSON.stringify({ execute: command, id }));
    await until(`the monitor answers "${command}"`, () => answers.has(id), ANSWER_MILLISECONDS);
    const fault = answers.get(id);
    if (fault !== undefined) throw new Error(`asking the monitor for "${command}": ${fault}`);
  }
  await execute("qmp_capabilities");
  return { execute, [Symbol.dispose]: () => lines[Symbol.dispose]() };
}
