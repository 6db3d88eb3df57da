/** What kind of machine a guest is, as QEMU's arguments, and the files that its `init.sh` goes by. */
import { join } from "node:path";
import { programPath } from "../parts.ts";
import type { GuestFile } from "./initramfs.ts";

/** What a test may choose. */
export interface Machine {
  /** Run by the guest's /bin/sh as root, with Node, busybox and `files` there; what it prints goes to the console. */
  readonly script: string;
  readonly files?: readonly GuestFile[];
  /** Kernel modules with their parameters, such as "softdog soft_margin=5 soft_panic=1", loaded before the script. */
  readonly modules?: readonly string[];
  /** Default: no card. With it the guest is 10.0.2.15, and this machine's loopback is 10.0.2.2. */
  readonly network?: boolean;
  /** Such as "psi=0". */
  readonly kernelArguments?: readonly string[];
  /** Default: 512. What the guest has installed takes some 170 of it. There is no swap. */
  readonly memoryMegabytes?: number;
  /** Default: 1. */
  readonly processors?: number;
}

const NETWORK_MODULES = ["virtio_pci", "virtio_net"];

/** A panic ends QEMU: the kernel resets the machine after a second, and a reset is taken for the end. */
const KERNEL_ARGUMENTS = ["console=ttyS0", "quiet", "panic=1"];

/** `file` gives the place of a file of this guest. */
export function qemuArguments(machine: Machine, file: (name: string) => string): readonly string[] {
  const { memoryMegabytes = 512, processors = 1, network = false, kernelArguments = [] } = machine;
  return [
    // Nothing but what is named here, and no emulation by the processor: tests must not depend on having it.
    ...["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-accel", "tcg"],
    ...["-m", String(memoryMegabytes), "-smp", String(processors)],
    ...["-kernel", join(programPath("guest-kernel"), "vmlinuz"), "-initrd", file("initramfs")],
    ...["-append", [...KERNEL_ARGUMENTS, ...kernelArguments].join(" ")],
    ...["-serial", `file:${file("console")}`],
    ...["-serial", `unix:${file("commands")},server=on,wait=off`],
    ...["-qmp", `unix:${file("monitor")},server=on,wait=off`],
    ...(network ? ["-netdev", "user,id=network,ipv6=off", "-device", "virtio-net-pci,netdev=network"] : []),
  ];
}

export function guestFiles({ script, files = [], modules = [], network = false }: Machine): readonly GuestFile[] {
  const load = [...(network ? NETWORK_MODULES : []), ...modules];
  return [
    { from: join(import.meta.dirname, "init.sh"), to: "/init", mode: 0o755 },
    { content: load.map((line) => `${line}\n`).join(""), to: "/guest/load" },
    { content: script, to: "/guest/script" },
    ...files,
  ];
}
