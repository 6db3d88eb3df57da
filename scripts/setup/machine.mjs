/** What must be on the machine before anything can be installed. All that is missing is named at once, with its use. */
import { ask, isInstalled } from "./command.mjs";
import { SetupFault, say } from "./output.mjs";

/** For these a Node 24 comes with the packages, so that the machine's own only has to run npm. */
const BRINGS_NODE = ["linux-x64", "linux-arm64"].includes(`${process.platform}-${process.arch}`);
const NODE_MAJOR = BRINGS_NODE ? 20 : 24;
const PYTHON_CANDIDATES = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"];
/** What Kubernetes needs to be built. */
const GO_VERSION = [1, 26];

/**
 * Gives the python command and the go command to use, each undefined where the mode has no use for it. `missing` names
 * the programs of Kubernetes that aren't on this machine: Go is asked for only if there are any. `unpackaged` are the
 * reasons why programs of the distribution aren't there, by name.
 * @throws SetupFault that names everything missing for `mode`.
 */
export function inspectMachine(mode, missing, unpackaged) {
  const faults = [];
  if (Number(process.versions.node.split(".")[0]) < NODE_MAJOR) {
    faults.push(`Node ${NODE_MAJOR} or newer, to run the project (this is ${process.version})`);
  }
  if (!isInstalled("npm")) faults.push("npm, to install packages");

  const python = mode.pythons.length > 0 ? findPython() : undefined;
  if (mode.pythons.length > 0 && python === undefined) {
    faults.push(
      "Python 3.10 or newer with venv (Debian: python3-venv), for the AWS emulator of the demo and the tests",
    );
  }

  const wantsGo = ["built", "needed"].includes(mode.programs) && missing.length > 0;
  const go = wantsGo ? findGo() : undefined;
  if (wantsGo && !go.isNewEnough) {
    const lack = lackOfGo(go.version, missing);
    if (mode.programs === "needed") faults.push(lack);
    else say(`this machine lacks ${lack}; suites that need them will be skipped, by name`);
  }
  const wantsPackaged = ["fetched", "needed"].includes(mode.guests) && Object.keys(unpackaged).length > 0;
  if (wantsPackaged) {
    const lack = lackOfPackages(unpackaged);
    if (mode.guests === "needed") faults.push(lack);
    else say(`this machine lacks ${lack}; suites that need them will be skipped, by name`);
  }
  if (faults.length > 0) {
    throw new SetupFault(`this machine lacks:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
  }
  return { python, go: go?.isNewEnough ? "go" : undefined };
}

function findPython() {
  const probe = "import sys, venv, ensurepip; assert sys.version_info >= (3, 10); print(*sys.version_info[:2])";
  for (const command of PYTHON_CANDIDATES) {
    const version = ask(command, ["-c", probe]);
    if (version !== undefined) return { command, version };
  }
  return undefined;
}

/** `version` is undefined where there is no Go at all. */
function findGo() {
  const [, major, minor] = (ask("go", ["env", "GOVERSION"]) ?? "").match(/^go(\d+)\.(\d+)/) ?? [];
  if (major === undefined) return { version: undefined, isNewEnough: false };
  const isNewEnough =
    Number(major) > GO_VERSION[0] || (Number(major) === GO_VERSION[0] && Number(minor) >= GO_VERSION[1]);
  return { version: `${major}.${minor}`, isNewEnough };
}

function lackOfGo(version, missing) {
  const instead = version === undefined ? "" : ` (this is ${version})`;
  const use = "for a real Kubernetes control plane in the tests and in `npm run demo -- --cluster real`";
  return (
    `Go ${GO_VERSION.join(".")} or newer${instead}, to build ${missing.join(", ")} once, ${use}; ` +
    "or a folder with them in KUBEBUILDER_ASSETS"
  );
}

function lackOfPackages(unpackaged) {
  const reasons = [...new Set(Object.values(unpackaged))].join("; ");
  return `${Object.keys(unpackaged).join(", ")}, for a kernel and images of their own in the tests (${reasons})`;
}
