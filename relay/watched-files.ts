/**
 * Files that are rotated while the relay runs: certificate and key, CA, service account token, identities. They are
 * compared every few seconds instead of watched: the kubelet swaps a symbolic link above them, which file watchers
 * miss. A new content that isn't acceptable is told once, and the old one stays in use.
 */
import { readFile } from "node:fs/promises";
import { reasonOf } from "./log.ts";

export interface FollowedFiles {
  /** Fixed name for logs and metrics, no path. */
  readonly name: string;
  /** Read together and given together. */
  readonly paths: readonly string[];
  /** Takes the contents into use; throws if they are not acceptable. */
  readonly use: (...contents: string[]) => void;
}

export type FileReport = (name: string, result: "loaded" | "refused", because: string | undefined) => void;

export interface FileWatch {
  /** Compares once, now. */
  check(): Promise<void>;
  stop(): void;
}

/**
 * Takes the files into use and follows their changes.
 * @throws if they can't be read or used at first: there is nothing to go on with yet.
 */
export async function followFiles(
  { name, paths, use }: FollowedFiles,
  options: { readonly everySeconds: number; readonly report: FileReport },
): Promise<FileWatch> {
  const first = await readAll(paths);
  use(...first);
  let inUse = first.join("\0");
  /** The content (or why there is none) that was told last; forgotten as soon as what is there is good. */
  let lastRefused: string | undefined;

  const check = async () => {
    let found: string | undefined;
    try {
      const contents = await readAll(paths);
      found = contents.join("\0");
      if (found !== inUse) {
        use(...contents);
        inUse = found;
        options.report(name, "loaded", undefined);
      }
      lastRefused = undefined;
    } catch (error) {
      const refused = found ?? reasonOf(error);
      if (refused !== lastRefused) options.report(name, "refused", reasonOf(error));
      lastRefused = refused;
    }
  };
  const timer = setInterval(() => void check(), options.everySeconds * 1000);
  timer.unref();
  return { check, stop: () => clearInterval(timer) };
}

function readAll(paths: readonly string[]): Promise<string[]> {
  return Promise.all(paths.map((path) => readFile(path, "utf8")));
}
