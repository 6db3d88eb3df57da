/**
 * Looks at the node's memory: /proc/meminfo and /proc/pressure/memory, opened once. What a look costs is paid up to ten
 * times a second on a node that has nothing left, so it makes no strings.
 */
import { closeSync, openSync } from "node:fs";
import type { MemorySample, Pressure } from "../words.ts";
import {
  codeOf,
  createKernelText,
  decimalAfter,
  find,
  type KernelText,
  numberAfter,
  readOpen,
} from "./read-numbers.ts";

const MEM_TOTAL = Buffer.from("MemTotal:");
const MEM_AVAILABLE = Buffer.from("\nMemAvailable:");
const FULL_LINE = Buffer.from("\nfull ");
const TOTAL = Buffer.from("total=");
const AVG10 = Buffer.from("avg10=");

export interface MemoryProbe {
  /** @throws where /proc/meminfo can't be read: there is no agent without it. */
  look(): MemorySample;
  close(): void;
}

/**
 * @param procRoot the host's /proc.
 * @param now monotonic milliseconds.
 */
export function openMemoryProbe(procRoot: string, now: () => number): MemoryProbe {
  const meminfo = openSync(`${procRoot}/meminfo`, "r");
  const text = createKernelText();
  const pressure = openPressure(`${procRoot}/pressure/memory`, text);
  return {
    look() {
      readOpen(meminfo, text);
      const totalKib = numberAfter(text, MEM_TOTAL);
      const availableKib = numberAfter(text, MEM_AVAILABLE);
      if (totalKib === undefined || availableKib === undefined) {
        throw new Error("reading meminfo: no MemTotal or no MemAvailable in it");
      }
      return { atMs: now(), totalKib, availableKib, pressure: pressure.look() };
    },
    close() {
      closeSync(meminfo);
      pressure.close();
    },
  };
}

interface PressureProbe {
  look(): Pressure;
  close(): void;
}

/** Nothing turns pressure on while a kernel runs, so what can't be opened isn't tried again. */
function openPressure(path: string, text: KernelText): PressureProbe {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    const unavailable = unavailableBy(error);
    return { look: () => unavailable, close: () => undefined };
  }
  return {
    look() {
      try {
        readOpen(file, text);
        return parsePressure(text);
      } catch (error) {
        return unavailableBy(error);
      }
    },
    close: () => closeSync(file),
  };
}

function parsePressure(text: KernelText): Pressure {
  const full = find(text, FULL_LINE) ?? text.length;
  const someTotalUs = numberAfter(text, TOTAL);
  const fullTotalUs = numberAfter(text, TOTAL, full);
  const fullAvg10 = decimalAfter(text, AVG10, full);
  if (someTotalUs === undefined || fullTotalUs === undefined || fullAvg10 === undefined) {
    return { kind: "unavailable", why: "unreadable", because: "the pressure file isn't in the known form" };
  }
  return { kind: "measured", someTotalUs, fullTotalUs, fullAvg10 };
}

/** Why there is no pressure, by the error of opening or reading it: ENOTSUP is Node's name for EOPNOTSUPP. */
export function unavailableBy(error: unknown): Pressure {
  const code = codeOf(error) ?? String(error);
  if (code === "ENOENT") {
    return { kind: "unavailable", why: "absent", because: "the kernel has no pressure figures (CONFIG_PSI, psi=1)" };
  }
  if (code === "ENOTSUP" || code === "EOPNOTSUPP") {
    return { kind: "unavailable", why: "off", because: "pressure figures are turned off (psi=1 turns them on)" };
  }
  return { kind: "unavailable", why: "unreadable", because: `the pressure file can't be read: ${code}` };
}
