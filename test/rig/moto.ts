/** EC2 and Auto Scaling in memory (moto), for what the AWS emulator is too weak for: asking for instances. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programPath } from "./parts.ts";
import { findFreePort } from "./ports.ts";
import { startProgram } from "./processes.ts";

export interface Moto extends AsyncDisposable {
  /** For AWS_ENDPOINT_URL_EC2 and AWS_ENDPOINT_URL_AUTO_SCALING. */
  readonly endpoint: string;
  /** For the constructor of an SDK client. Signatures aren't checked. */
  readonly clientConfig: {
    readonly endpoint: string;
    readonly region: string;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  };
  /** Forgets everything. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

export async function startMoto({ region = "eu-west-1" } = {}): Promise<Moto> {
  await using onFailure = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "nodekeeper-moto-"));
  onFailure.defer(() => rm(folder, { recursive: true, force: true }));

  const port = await findFreePort();
  const endpoint = `http://127.0.0.1:${port}`;
  onFailure.use(
    await startProgram({
      name: "moto",
      command: programPath("moto-python"),
      args: ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)],
      cwd: folder,
      logFile: join(folder, "moto.log"),
      env: {
        PATH: "/usr/bin:/bin",
        HOME: folder,
        TMPDIR: folder,
        LANG: "C.UTF-8",
        // Its own functions call its own backends with these; nothing of whoever runs the tests.
        AWS_ACCESS_KEY_ID: "test",
        AWS_SECRET_ACCESS_KEY: "test",
        AWS_DEFAULT_REGION: region,
      },
      isReady: async () => (await fetch(`${endpoint}/moto-api/data.json`)).ok,
    }),
  );

  const running = onFailure.move();
  const stop = () => running.disposeAsync();
  const clientConfig = { endpoint, region, credentials: { accessKeyId: "test", secretAccessKey: "test" } };
  async function reset(): Promise<void> {
    const answer = await fetch(`${endpoint}/moto-api/reset`, { method: "POST" });
    if (!answer.ok) throw new Error(`resetting moto: ${answer.status}`);
  }
  return { endpoint, clientConfig, reset, stop, [Symbol.asyncDispose]: stop };
}
