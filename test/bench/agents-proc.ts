/** What the kernel says of a running process: its memory and the CPU time it took. Linux only, as the agents are. */
import { readFile } from "node:fs/promises";

/** In MiB. */
export interface Memory {
  readonly rss: number;
  /** Its own: heap, stacks and what it wrote to. */
  readonly anon: number;
  /** Pages of files, the Node program's above all. */
  readonly file: number;
  /** Each page divided by how many processes map it. */
  readonly pss: number;
}

/** USER_HZ, which user space sees as 100 whatever the kernel ticks at: https://man7.org/linux/man-pages/man7/time.7.html */
const TICKS_PER_SECOND = 100;
/** Positions after the name in brackets: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** @throws where the process is gone. */
export async function readMemory(pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
  return {
    rss: mibOf("VmRSS", status),
    anon: mibOf("RssAnon", status),
    file: mibOf("RssFile", status),
    pss: mibOf("Pss", rollup),
  };
}

/** Of all its threads, since its start. @throws where the process is gone. */
export async function readCpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The name may hold anything, brackets and blanks too.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) / TICKS_PER_SECOND;
}

function mibOf(key: string, text: string): number {
  const kib = new RegExp(`^${key}:\\s+(\\d+) kB$`, "m").exec(text)?.[1];
  if (kib === undefined) throw new Error(`reading the memory of a process: there is no ${key}`);
  return Number(kib) / 1024;
}
