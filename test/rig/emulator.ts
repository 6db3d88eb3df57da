/**
 * The AWS emulator as a program on loopback: CloudFormation, SQS, EventBridge, Lambda, IAM, STS and more, empty at each
 * start. With `auth` it checks signatures and enforces IAM, so that a missing permission fails as it would on AWS.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { programPath } from "./parts.ts";
import { findFreePort } from "./ports.ts";
import { startProgram } from "./processes.ts";

export interface EmulatorOptions {
  /** Signatures and IAM policies are enforced, and `env` holds the root key pair. Default false. */
  readonly auth?: boolean;
  /** 12 digits; default 123456789012. */
  readonly account?: string;
  /** Default eu-west-1. */
  readonly region?: string;
  /** More of the environment that the emulator and all functions in it get; a function's own settings win. */
  readonly functionEnv?: Readonly<Record<string, string>>;
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface Emulator extends AsyncDisposable {
  readonly endpoint: string;
  readonly account: string;
  readonly region: string;
  /** Whole environment for an SDK client or the CDK: they reach the emulator and nothing else. */
  readonly env: Readonly<Record<string, string>>;
  /** For the constructor of an SDK client. */
  readonly clientConfig: { readonly endpoint: string; readonly region: string; readonly credentials: Credentials };
  readonly logFile: string;
  stop(): Promise<void>;
}

export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { auth = false, account = "123456789012", region = "eu-west-1", functionEnv = {} } = options;
  await using onFailure = new AsyncDisposableStack();
  // Functions are unpacked below it. Not below the project: its "type": "module" would silence their CommonJS worker.
  const folder = await mkdtemp(join(tmpdir(), "nodekeeper-emulator-"));
  onFailure.defer(() => rm(folder, { recursive: true, force: true }));

  const port = await findFreePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = rootCredentials(auth, account);
  const logFile = join(folder, "emulator.log");
  onFailure.use(
    await startProgram({
      name: "the AWS emulator",
      command: programPath("emulator-python"),
      args: [join(import.meta.dirname, "emulator_launcher.py")],
      cwd: folder,
      logFile,
      env: {
        ...functionEnv,
        ...cleanEnvironment(folder),
        // Its default is all interfaces.
        BIND_HOST: "127.0.0.1",
        GATEWAY_PORT: String(port),
        MINISTACK_HOST: "127.0.0.1",
        MINISTACK_ACCOUNT_ID: account,
        MINISTACK_REGION: region,
        IOT_MTLS_ENABLED: "0",
        SFTP_ENABLED: "0",
        ...(auth ? { AUTH: "true", ...keyPair(credentials) } : {}),
      },
      isReady: async () => (await fetch(`${endpoint}/_ministack/ready`)).ok,
    }),
  );

  const running = onFailure.move();
  const stop = () => running.disposeAsync();
  const env = {
    ...cleanEnvironment(folder),
    ...keyPair(credentials),
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true",
  };
  const clientConfig = { endpoint, region, credentials };
  return { endpoint, account, region, env, clientConfig, logFile, stop, [Symbol.asyncDispose]: stop };
}

/** Without `auth` the emulator takes the access key for the account, and any secret. */
function rootCredentials(auth: boolean, account: string): Credentials {
  if (!auth) return { accessKeyId: account, secretAccessKey: "test" };
  return { accessKeyId: "root-of-one-test-run", secretAccessKey: "rig-root-secret-of-one-test-run" };
}

function keyPair({ accessKeyId, secretAccessKey }: Credentials) {
  return { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
}

/** Nothing of whoever runs the tests, and the Node that runs them first: functions run on the first one found. */
function cleanEnvironment(folder: string) {
  const path = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(":");
  return { PATH: path, HOME: folder, TMPDIR: folder, LANG: "C.UTF-8" };
}
