/** Programs of the tests that come as packages of the machine's own distribution: searched here, never installed. */
import { ask, locate } from "./command.mjs";

/** What a guest is made and run with, besides its kernel. */
export const GUEST_PROGRAMS = ["qemu", "busybox", "cpio"];

/** Each with its Debian package. */
const PACKAGED = {
  qemu: { command: "qemu-system-x86_64", from: "qemu-system-x86" },
  busybox: { command: "busybox", from: "busybox-static" },
  cpio: { command: "cpio", from: "cpio" },
  buildah: { command: "buildah", from: "buildah" },
};

/** A guest runs this machine's own Node. */
const HAS_GUESTS = process.platform === "linux" && process.arch === "x64";

/** Paths by name of those that are there; of the others, by name, why not, with one command that installs them all. */
export function findPackaged() {
  const names = Object.keys(PACKAGED).filter((name) => HAS_GUESTS || !GUEST_PROGRAMS.includes(name));
  const paths = Object.fromEntries(names.map((name) => [name, find(name)]));
  const absent = names.filter((name) => paths[name] === undefined);
  const packages = absent.map((name) => PACKAGED[name].from).join(" ");
  const because = `on Debian: apt-get install -y --no-install-recommends ${packages}`;
  const outOfPlace = HAS_GUESTS ? [] : GUEST_PROGRAMS.map((name) => [name, "guests run on Linux on x86-64 only"]);
  return {
    found: Object.fromEntries(Object.entries(paths).filter(([, path]) => path !== undefined)),
    missing: Object.fromEntries([...outOfPlace, ...absent.map((name) => [name, because])]),
  };
}

function find(name) {
  const path = locate(PACKAGED[name].command);
  // A guest has no libraries but those of Node, and another package has a busybox that needs more.
  return path !== undefined && name === "busybox" && needsLibraries(path) ? undefined : path;
}

/** `ldd` fails on a program that needs none. */
function needsLibraries(path) {
  return ask("ldd", [path]) !== undefined;
}
