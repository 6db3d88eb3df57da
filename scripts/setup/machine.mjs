/** What must be on the machine before anything can be installed. All that is missing is named at once, with its use. */
import { ask, isInstalled } from "./command.mjs";
import { SetupFault, say } from "./output.mjs";

/** For these a Node 24 comes with the packages, so that the machine's own only has to run npm. */
const BRINGS_NODE = ["linux-x64", "linux-arm64"].includes(`${process.platform}-${process.arch}`);
const NODE_MAJOR = BRINGS_NODE ? 20 : 24;
const PYTHON_CANDIDATES = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"];
const GO_VERSION = [1, 26];

/**
 * Gives the python command and the go command to use; go is undefined where there is none.
 * @throws SetupFault that names everything missing for `mode`.
 */
export function inspectMachine(mode) {
  const faults = [];
  if (Number(process.versions.node.split(".")[0]) < NODE_MAJOR) {
    faults.push(`Node ${NODE_MAJOR} or newer, to run the project (this is ${process.version})`);
  }
  if (!isInstalled("npm")) faults.push("npm, to install packages");

  const python = mode === "check" ? undefined : findPython();
  if (mode !== "check" && python === undefined) {
    faults.push(
      "Python 3.10 or newer with venv (Debian: python3-venv), for the AWS emulator of the demo and the tests",
    );
  }
  if (faults.length > 0) {
    throw new SetupFault(`this machine lacks:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
  }
  return { python, go: mode === "test" ? findGo() : undefined };
}

function findPython() {
  const probe = "import sys, venv, ensurepip; assert sys.version_info >= (3, 10); print(*sys.version_info[:2])";
  for (const command of PYTHON_CANDIDATES) {
    const version = ask(command, ["-c", probe]);
    if (version !== undefined) return { command, version };
  }
  return undefined;
}

/** Go isn't demanded here: it is needed only where the Kubernetes programs aren't found built. */
function findGo() {
  const [, major, minor] = (ask("go", ["env", "GOVERSION"]) ?? "").match(/^go(\d+)\.(\d+)/) ?? [];
  if (major === undefined) return undefined;
  const newEnough =
    Number(major) > GO_VERSION[0] || (Number(major) === GO_VERSION[0] && Number(minor) >= GO_VERSION[1]);
  if (newEnough) return "go";
  say(`Go ${major}.${minor} is too old to build Kubernetes: ${GO_VERSION.join(".")} or newer is needed`);
  return undefined;
}
