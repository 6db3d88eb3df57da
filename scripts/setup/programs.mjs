/**
 * The programs of Kubernetes in exactly the versions that the tests are written for: from KUBEBUILDER_ASSETS, from the
 * search path, from the cache, or built from source with Go.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ask, execute, REPOSITORY, SYSTEM_PATH } from "./command.mjs";
import { CACHE_FOLDER, once } from "./once.mjs";
import { withProgress } from "./output.mjs";

const KUBERNETES = { module: "kubernetes", version: "1.36.3", ldflags: kubernetesStamp("1.36.3") };
const ETCD = { module: "etcd", version: "3.6.16", ldflags: "" };
const KWOK = { module: "kwok", version: "0.7.0", ldflags: "" };

/** Each with its Go package, and with what makes it tell its version. */
const PROGRAMS = {
  etcd: { ...ETCD, source: "go.etcd.io/etcd/server/v3", tell: ["--version"] },
  kwok: { ...KWOK, source: "sigs.k8s.io/kwok/cmd/kwok", tell: ["--version"] },
  "kube-apiserver": { ...KUBERNETES, source: "k8s.io/kubernetes/cmd/kube-apiserver", tell: ["--version"] },
  "kube-controller-manager": {
    ...KUBERNETES,
    source: "k8s.io/kubernetes/cmd/kube-controller-manager",
    tell: ["--version"],
  },
  "kube-scheduler": { ...KUBERNETES, source: "k8s.io/kubernetes/cmd/kube-scheduler", tell: ["--version"] },
  kubectl: { ...KUBERNETES, source: "k8s.io/kubernetes/cmd/kubectl", tell: ["version", "--client"] },
};

/** Paths by name of the programs that are on this machine, and the names of the others. */
export function findPrograms() {
  const paths = Object.entries(PROGRAMS).map(([name, program]) => [name, findProgram(name, program)]);
  return {
    found: Object.fromEntries(paths.filter(([, path]) => path !== undefined)),
    missing: paths.filter(([, path]) => path === undefined).map(([name]) => name),
  };
}

/**
 * Builds programs one after the other and gives their paths by name; none without `go`.
 * @throws SetupFault where a build fails.
 */
export async function buildPrograms(go, names) {
  const built = {};
  if (go === undefined) return built;
  for (const name of names) built[name] = await build(go, name, PROGRAMS[name]);
  return built;
}

function findProgram(name, program) {
  const cached = cachedPath(name, program);
  const elsewhere = [process.env.KUBEBUILDER_ASSETS ?? "", ...SYSTEM_PATH.split(delimiter)]
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .filter((path) => existsSync(path));
  return elsewhere.find((path) => isVersion(path, program)) ?? (existsSync(cached) ? cached : undefined);
}

/** Any other version is passed over: what the tests know about answers and flags holds for this one. */
function isVersion(path, { version, tell }) {
  const answer = ask(path, tell) ?? "";
  return new RegExp(`(^|[\\sv])${version.replaceAll(".", "\\.")}(\\s|$)`).test(answer);
}

function cachedPath(name, { module, version }) {
  return join(CACHE_FOLDER, `${module}-${version}`, name);
}

async function build(go, name, program) {
  const path = cachedPath(name, program);
  await once(
    `${program.module}-${program.version}`,
    () => existsSync(path),
    () =>
      withProgress(`building ${name} ${program.version} from source, once`, async () => {
        const partial = `${path}.partial`;
        mkdirSync(join(path, ".."), { recursive: true });
        rmSync(partial, { force: true });
        const ldflags = `-s -w ${program.ldflags}`;
        // Rather fails than fetches another Go.
        const env = { GOTOOLCHAIN: "local" };
        const cwd = join(REPOSITORY, "test/rig/go", program.module);
        await execute(go, ["build", "-trimpath", "-ldflags", ldflags, "-o", partial, program.source], { cwd, env });
        renameSync(partial, path);
      }),
  );
  return path;
}

/** Without it the API server says v0.0.0-master, and kubectl fails to compare versions. */
function kubernetesStamp(version) {
  const [major, minor] = version.split(".");
  const stamp = "-X k8s.io/component-base/version";
  return `${stamp}.gitVersion=v${version} ${stamp}.gitMajor=${major} ${stamp}.gitMinor=${minor}`;
}
