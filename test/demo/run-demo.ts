/** The demo from the first step of the set-up to the summary: what is started here is ended here, whatever happens. */
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildBundle } from "../../scripts/build.ts";
import { waitUntil } from "../rig/wait.ts";
import { type Installation, install } from "../support/installation.ts";
import { INTERRUPTED_EXIT_CODE, listenForCtrlC } from "./ctrl-c.ts";
import { type DemoCluster, startDemoCluster } from "./demo-cluster.ts";
import { interruptAndWatch } from "./drama.ts";
import { keepRunning, lastLogLines } from "./look-closer.ts";
import type { DemoOptions } from "./options.ts";
import { workOf } from "./progress.ts";
import { faultsOf } from "./report.ts";
import { makeScene, POLICY, type Scene } from "./scene.ts";
import { openSteps } from "./steps.ts";
import { renderSummary } from "./summary.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { gatherReport } from "./verdict.ts";
import { type Sighting, type Watch, watchCluster } from "./watch.ts";

const READY_MILLISECONDS = 60_000;

/** Gives the exit code: 0 if all is as it should be, 1 if not, 130 after Ctrl-C. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const terminal = openTerminal(process.stdout, process.env);
  using ctrlC = listenForCtrlC(
    () => terminal.write("\nending everything that was started; once more Ctrl-C ends it at once\n"),
    () => terminal.leaveArea(),
  );
  try {
    return await play(options, terminal, ctrlC.signal);
  } catch (error) {
    if (ctrlC.signal.aborted) return INTERRUPTED_EXIT_CODE;
    console.error(`\n${describe(error)}`);
    return 1;
  }
}

async function play(options: DemoOptions, terminal: Terminal, signal: AbortSignal): Promise<number> {
  await using started = new AsyncDisposableStack();
  const scene = makeScene(options);
  const steps = openSteps(terminal);
  const begin = (what: string) => {
    signal.throwIfAborted();
    steps.begin(what);
  };

  begin(`starting the ${options.cluster} cluster: ${scene.nodes.length} nodes`);
  const cluster = started.use(await startDemoCluster(options.cluster, scene));
  const watch = started.use(watchCluster(cluster, signal));
  const installation = started.use(await installFor(cluster, begin));
  begin("waiting until all nodes and pods are ready");
  const before = await waitForScene(scene, watch);
  steps.end();
  // Since the process was started: loading the CDK counts too.
  const setupSeconds = performance.now() / 1000;

  const drama = await interruptAndWatch({ scene, installation, watch, terminal, signal }, before);
  const after = await watch.look(scene.nodes.map(({ name }) => name));
  const report = await gatherReport({ scene, installation, before, after, drama, setupSeconds });
  const failed = faultsOf(report).length > 0;
  if (failed) terminal.writeLines(await lastLogLines(installation));
  terminal.writeLines(renderSummary(report, terminal.paint));
  if (options.keep) await keepRunning(cluster, installation, terminal, signal);
  return failed ? 1 : 0;
}

async function installFor(cluster: DemoCluster, onProgress: (what: string) => void): Promise<Installation> {
  onProgress("building the function's bundle");
  await using folder = await mkdtempDisposable(join(tmpdir(), "nodekeeper-demo-"));
  const entry = join(import.meta.dirname, "../../functions/drain-node/handler.ts");
  const { directory } = await buildBundle({
    name: "drain-node",
    entry,
    file: "handler",
    directory: join(folder.path, "drain-node"),
  });
  const { url, caPem, relayToken: token } = cluster;
  return await install({
    kubeApi: { url, caPem, token },
    policy: POLICY,
    bundles: { drainNode: directory },
    onProgress,
  });
}

/** Every node Ready and free of taints, every pod of the scene and of the DaemonSet there and Ready. */
async function waitForScene(scene: Scene, watch: Watch): Promise<Sighting> {
  const names = scene.nodes.map(({ name }) => name);
  let seen = await watch.look(names);
  const isReady = async () => {
    seen = await watch.look(names);
    return names.every((name) => {
      const [node, pods = []] = [seen.nodes.get(name), seen.pods.get(name)];
      const work = workOf(pods).length;
      const wanted = scene.pods.filter((pod) => pod.nodeName === name).length;
      const complete = work === wanted && pods.length === wanted + 1 && pods.every(({ ready }) => ready);
      return complete && node?.ready === "True" && node.taints.length === 0;
    });
  };
  await waitUntil("all nodes and pods are ready", isReady, { withinMilliseconds: READY_MILLISECONDS });
  return seen;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}\nbecause: ${describe(error.cause)}`;
}
