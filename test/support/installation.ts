/**
 * A whole installation on loopback, as an operator would have it: the stack deployed by the CDK into the AWS emulator,
 * the shipped bundles as Lambda and as relay, and whatever API server it is given. Used by the demo and by the suites.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bundles, synthesize } from "../../infra/synthesize.ts";
import { FUNCTION_NAMES, kubernetesUser, roleName } from "../../shared/domain/identity.ts";
import { bootstrap, deploy } from "../rig/deploy.ts";
import { type Emulator, startEmulator } from "../rig/emulator.ts";
import { startStsFront } from "../rig/sts-tls.ts";
import { type Backstage, openBackstage } from "./backstage.ts";
import { type RelayProgram, startRelayProgram } from "./relay/relay-program.ts";

export interface InstallationOptions {
  /** Where the relay finds the API server, and the token by which it may impersonate. */
  readonly kubeApi: { readonly url: string; readonly caPem: string; readonly token: string };
  readonly cluster?: string;
  /** As in cdk.json. fence-node is there only if it enables fencing. */
  readonly policy?: object;
  readonly queues?: object;
  /** More of the environment of the functions, for instance where EC2 is played. */
  readonly functionEnv?: Readonly<Record<string, string>>;
  readonly logLevel?: "INFO" | "DEBUG";
  /** Folders of built functions; default: those in dist. */
  readonly bundles?: Partial<Bundles>;
  /** Told what is being done, in a few words. */
  readonly onProgress?: (what: string) => void;
}

export interface Installation extends Backstage, AsyncDisposable {
  readonly cluster: string;
  readonly emulator: Emulator;
  readonly relay: RelayProgram;
  stop(): Promise<void>;
}

export async function install(options: InstallationOptions): Promise<Installation> {
  const { cluster = "demo", onProgress = () => {} } = options;
  await using onFailure = new AsyncDisposableStack();

  onProgress("starting the AWS emulator, with IAM enforced");
  const emulator = onFailure.use(
    await startEmulator({ auth: true, ...(options.functionEnv && { functionEnv: options.functionEnv }) }),
  );
  // Beside what follows, since it takes seconds; whatever happens, it has ended before the emulator does.
  const bootstrapped = bootstrap(emulator);
  const ended = bootstrapped.catch(() => {});
  onFailure.defer(() => ended);
  const sts = onFailure.use(await startStsFront(emulator));

  onProgress("starting the relay");
  const relay = onFailure.use(
    await startRelayProgram({
      kubeApi: options.kubeApi,
      sts: { address: sts.address, caFile: sts.caFile },
      identities: Object.fromEntries(
        FUNCTION_NAMES.map((fn) => [`aws/${emulator.account}/${roleName(cluster, fn)}`, kubernetesUser(fn)]),
      ),
      env: { CLUSTER_NAME: cluster, AWS_REGION: emulator.region },
    }),
  );

  onProgress("synthesizing the stack");
  const folder = await mkdtemp(join(tmpdir(), "nodekeeper-installation-"));
  onFailure.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "ca.pem"), relay.ca);
  const config = join(folder, "config.json");
  await writeFile(config, JSON.stringify(deployConfig({ ...options, cluster }, emulator, relay.port)));
  const cdkOut = join(folder, "cdk.out");
  synthesize({
    context: { "nodekeeper-config": config },
    outdir: cdkOut,
    ...(options.bundles && { bundles: options.bundles }),
  });

  onProgress("cdk bootstrap");
  await bootstrapped;
  onProgress("cdk deploy");
  const outputs = (await deploy(emulator, { cdkOut }))[`nodekeeper-${cluster}`];
  if (outputs === undefined) throw new Error("deploying: the stack has no outputs");

  const backstage = openBackstage(emulator, outputs);
  const running = onFailure.move();
  const stop = () => running.disposeAsync();
  return { cluster, emulator, relay, ...backstage, stop, [Symbol.asyncDispose]: stop };
}

function deployConfig(options: InstallationOptions, { account, region }: Emulator, relayPort: number): object {
  return {
    cluster: options.cluster,
    account,
    region,
    api: { via: "relay", url: `https://127.0.0.1:${relayPort}`, caFile: "ca.pem" },
    // Nothing listens to these: the emulator's functions run on loopback.
    network: {
      vpcId: "vpc-0123456789abcdef0",
      subnetIds: ["subnet-0123456789abcdef0"],
      securityGroupIds: ["sg-0123456789abcdef0"],
      endpoints: "existing",
    },
    ...(options.policy && { policy: options.policy }),
    ...(options.queues && { queues: options.queues }),
    ...(options.logLevel && { logLevel: options.logLevel }),
  };
}
