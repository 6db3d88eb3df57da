/** A conversation in lines over a unix socket: QEMU offers its monitor and the guest's second serial line that way. */
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { waitUntil } from "../wait.ts";

export interface LineSocket extends Disposable {
  send(line: string): void;
}

/** QEMU makes its sockets in its first instants. */
const CONNECT_MILLISECONDS = 10_000;

/** @throws if nobody listens on `path` in time. */
export async function connectLines(path: string, onLine: (line: string) => void): Promise<LineSocket> {
  let socket: Socket | undefined;
  const connected = async () => {
    socket = await tryToConnect(path);
    return socket !== undefined;
  };
  await waitUntil(`something listens on ${path}`, connected, { withinMilliseconds: CONNECT_MILLISECONDS });
  if (socket === undefined) throw new Error(`connecting to ${path}: no socket`);
  const open = socket;
  // It breaks when the guest ends, which is seen by the process.
  open.on("error", () => {});
  createInterface({ input: open }).on("line", onLine);
  return {
    send: (line) => void open.write(`${line}\n`),
    [Symbol.dispose]: () => void open.destroy(),
  };
}

async function tryToConnect(path: string): Promise<Socket | undefined> {
  const socket = createConnection(path);
  try {
    await once(socket, "connect");
    return socket;
  } catch {
    return undefined;
  }
}
