/**
 * Keeps Events in files until the API has taken them, across restarts too: one file each, written whole or not at all,
 * bounded in number. Order is that of the file names, which begin with the time.
 */
import {
  close as closeFile,
  readdir as listFolder,
  mkdir as makeFolder,
  open as openFile,
  readFile as readWhole,
  rm as removeFile,
  rename as renameFile,
  fsync as syncFile,
  writeFile as writeWhole,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { EventBody } from "./events.ts";

export interface Spooled {
  readonly file: string;
  /** Undefined where the file can't be understood. */
  readonly event: PostableEvent | undefined;
}

/** As much of an Event as posting needs to know; the rest is the API server's to check. */
export interface PostableEvent {
  readonly metadata: { readonly name: string; readonly namespace: string };
}

const SUFFIX = ".json";

/** Not `node:fs/promises`, which takes a megabyte more. */
const mkdir = promisify(makeFolder);
const open = promisify(openFile);
const writeFile = promisify(writeWhole);
const fsync = promisify(syncFile);
const close = promisify(closeFile);
const rename = promisify(renameFile);
const readdir = promisify(listFolder);
const readFile = promisify(readWhole);
const rm = promisify(removeFile);

export class Spool {
  readonly #folder: string;
  readonly #maxEvents: number;

  constructor(folder: string, maxEvents: number) {
    this.#folder = folder;
    this.#maxEvents = maxEvents;
  }

  /**
   * Names of the files that had to go to make room, oldest first.
   *
   * @throws where the folder can't be written.
   */
  async put(event: EventBody): Promise<readonly string[]> {
    await mkdir(this.#folder, { recursive: true });
    // The end of the name is what tells Events apart, and a file's name is shorter than an object's may be.
    const distinct = `_${event.metadata.name.slice(-100)}${SUFFIX}`;
    // A failure that repeats every 15 s is one Event an hour: its repetitions must not push others out.
    if ((await this.names()).some((waiting) => waiting.endsWith(distinct))) return [];
    await this.#write(event.eventTime.replaceAll(":", "-") + distinct, JSON.stringify(event));
    const names = await this.names();
    const tooMany = names.slice(0, Math.max(names.length - this.#maxEvents, 0));
    for (const oldest of tooMany) await this.remove(oldest);
    return tooMany;
  }

  async #write(name: string, text: string): Promise<void> {
    const unfinished = join(this.#folder, `.${name}`);
    try {
      const file = await open(unfinished, "w", 0o600);
      try {
        await writeFile(file, text);
        // A node that is short of memory may be reset the next moment.
        await fsync(file);
      } finally {
        await close(file);
      }
      await rename(unfinished, join(this.#folder, name));
    } catch (error) {
      // Halves that nobody reads or counts would fill a disk that is full already.
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  /** Oldest first; none where the folder isn't there yet. */
  async names(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (isAbsent(error)) return [];
      throw error;
    });
    return names.filter((name) => name.endsWith(SUFFIX) && !name.startsWith(".")).toSorted();
  }

  async read(file: string): Promise<Spooled> {
    return { file, event: parseEvent(await readFile(join(this.#folder, file), "utf8")) };
  }

  async remove(file: string): Promise<void> {
    await rm(join(this.#folder, file), { force: true });
  }
}

function parseEvent(text: string): PostableEvent | undefined {
  try {
    const event: unknown = JSON.parse(text);
    return isPostable(event) ? event : undefined;
  } catch {
    return undefined;
  }
}

function isPostable(event: unknown): event is PostableEvent {
  if (!isObject(event) || !("metadata" in event) || !isObject(event.metadata)) return false;
  const { metadata } = event;
  return isText("name" in metadata && metadata.name) && isText("namespace" in metadata && metadata.namespace);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
