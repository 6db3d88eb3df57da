/** The relay as the program that is shipped: the bundle in a process of its own, with its files in a folder of its own. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildBundle } from "../../../scripts/build.ts";
import { type Authority, createAuthority } from "../../rig/pki.ts";
import { type RunningProgram, startProgram } from "../../rig/processes.ts";
import { CLUSTER, REGION } from "./tokens.ts";

export interface RelayProgramOptions {
  readonly kubeApi: { readonly url: string; readonly caPem: string; readonly token: string };
  readonly sts: { readonly address: string; readonly caFile: string };
  /** Contents of the identities' file. */
  readonly identities: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface RelayProgram extends AsyncDisposable {
  readonly port: number;
  readonly opsUrl: string;
  /** Certificate of the authority that signed the relay's. */
  readonly ca: string;
  readonly authority: Authority;
  readonly program: RunningProgram;
  /** Rewrites one of its files, as a rotation would. */
  write(file: "tls.crt" | "tls.key" | "identities.json" | "token" | "ca.crt", text: string): Promise<void>;
  log(): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

export async function startRelayProgram(options: RelayProgramOptions): Promise<RelayProgram> {
  await using onFailure = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "nodekeeper-relay-"));
  onFailure.defer(() => rm(folder, { recursive: true, force: true }));
  const entry = join(import.meta.dirname, "../../../relay/main.ts");
  const bundle = await buildBundle({ name: "relay", entry, file: "main", directory: join(folder, "bundle") });

  const authority = await createAuthority();
  const { certPem, keyPem } = await authority.issue({ commonName: "relay", hosts: ["127.0.0.1"] });
  const write: RelayProgram["write"] = (file, text) => writeFile(join(folder, file), text);
  await Promise.all([
    write("tls.crt", certPem),
    write("tls.key", keyPem),
    write("identities.json", JSON.stringify(options.identities)),
    write("token", options.kubeApi.token),
    write("ca.crt", options.kubeApi.caPem),
  ]);

  const logFile = join(folder, "relay.log");
  const log = async () => readLog(await readFile(logFile, "utf8"));
  const listening = async () => (await log()).find(({ message }) => message === "relay listens");
  const program = onFailure.use(
    await startProgram({
      name: "the relay",
      command: process.execPath,
      args: [bundle.entry],
      logFile,
      env: {
        CLUSTER_NAME: CLUSTER,
        AWS_REGION: REGION,
        PORT: "0",
        OPS_PORT: "0",
        TLS_CERT_FILE: join(folder, "tls.crt"),
        TLS_KEY_FILE: join(folder, "tls.key"),
        IDENTITIES_FILE: join(folder, "identities.json"),
        KUBE_TOKEN_FILE: join(folder, "token"),
        KUBE_CA_FILE: join(folder, "ca.crt"),
        KUBE_API_URL: options.kubeApi.url,
        STS_CONNECT: options.sts.address,
        NODE_EXTRA_CA_CERTS: options.sts.caFile,
        FILE_CHECK_SECONDS: "1",
        SHUTDOWN_DELAY_SECONDS: "1",
        SHUTDOWN_DRAIN_SECONDS: "3",
        ...options.env,
      },
      isReady: async () => (await listening()) !== undefined,
    }),
  );
  const { port, opsPort } = (await listening()) ?? {};
  const running = onFailure.move();
  return {
    ...{ ca: authority.certPem, authority, program, write, log },
    port: Number(port),
    opsUrl: `http://127.0.0.1:${Number(opsPort)}`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function readLog(text: string): readonly Readonly<Record<string, unknown>>[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}
