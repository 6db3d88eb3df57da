/** Reads the kernel's text files into one buffer that is used again and again, and numbers out of it without strings. */
import { closeSync, openSync, readSync } from "node:fs";

/** memory.stat, the longest of them, has about 2 KiB. */
const BUFFER_BYTES = 16 * 1024;
const ZERO = 0x30;
const NINE = 0x39;
const SPACE = 0x20;
const POINT = 0x2e;

export interface KernelText {
  readonly buffer: Buffer;
  /** Bytes of `buffer` that the last read filled. */
  length: number;
}

export function createKernelText(): KernelText {
  return { buffer: Buffer.alloc(BUFFER_BYTES), length: 0 };
}

/** Reads an open file from its beginning: the kernel writes these files anew for each such read. */
export function readOpen(file: number, text: KernelText): void {
  text.length = readSync(file, text.buffer, 0, text.buffer.length, 0);
}

/**
 * Reads to the end: of a list such as /proc/vmstat the kernel gives a page at a time, however much is asked for.
 *
 * @returns whether there was something to read: false where the cgroup is gone, before or while we looked.
 */
export function readIfThere(path: string, text: KernelText): boolean {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    readOpen(file, text);
    for (let more = text.length; more > 0 && text.length < text.buffer.length; text.length += more) {
      more = readSync(file, text.buffer, text.length, text.buffer.length - text.length, text.length);
    }
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** ENODEV is what a file of a removed cgroup answers that was opened in time. */
export function isGone(error: unknown): boolean {
  return ["ENOENT", "ENODEV", "ENOTDIR"].includes(codeOf(error) ?? "");
}

/** Such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The whole number that the text begins with. */
export function firstNumber(text: KernelText): number | undefined {
  return numberAt(text, 0);
}

/** The whole number behind the first `key`, spaces skipped; digits after a point don't count. */
export function numberAfter(text: KernelText, key: Buffer, from = 0): number | undefined {
  const at = find(text, key, from);
  return at === undefined ? undefined : numberAt(text, at + key.length);
}

/** As `numberAfter`, for a number with two decimals, such as `avg10=12.34`. */
export function decimalAfter(text: KernelText, key: Buffer, from = 0): number | undefined {
  const whole = numberAfter(text, key, from);
  const at = find(text, key, from);
  if (whole === undefined || at === undefined) return undefined;
  const point = text.buffer.indexOf(POINT, at);
  const tens = digitAt(text, point + 1);
  const ones = digitAt(text, point + 2);
  return point < 0 || tens === undefined || ones === undefined ? whole : whole + (tens * 10 + ones) / 100;
}

/** Where `key` begins. What an earlier, longer read left behind the end isn't found. */
export function find(text: KernelText, key: Buffer, from = 0): number | undefined {
  const at = text.buffer.indexOf(key, from);
  return at < 0 || at + key.length > text.length ? undefined : at;
}

function numberAt(text: KernelText, start: number): number | undefined {
  let at = start;
  while (at < text.length && text.buffer[at] === SPACE) at += 1;
  let value = 0;
  const first = at;
  for (let digit = digitAt(text, at); digit !== undefined; digit = digitAt(text, at)) {
    value = value * 10 + digit;
    at += 1;
  }
  return at === first ? undefined : value;
}

function digitAt({ buffer, length }: KernelText, at: number): number | undefined {
  const byte = at < length ? buffer[at] : undefined;
  return byte === undefined || byte < ZERO || byte > NINE ? undefined : byte - ZERO;
}
