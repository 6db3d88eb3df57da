/**
 * Files that are rotated while the relay runs: certificate and key, CA, service account token, identities. They are
 * compared every few seconds instead of watched: the kubelet swaps a symbolic link above them, which file watchers
 * miss. A new content that isn't acceptable is told once, and the old one stays in use.
 */
import { readFile } from "node:fs/promises";
import { reasonOf } from "./log.ts";

export interface WatchedFiles {
  /** Fixed name for logs and metrics, no path. */
  readonly name: string;
  /** Read together and given together. */
  readonly paths: readonly string[];
  /** Takes the contents into use; throws if they are not acceptable. */
  readonly use: (contents: readonly string[]) => void;
}

export type FileReport = (name: string, result: "loaded" | "refused", because: string | undefined) => void;

export interface FileWatch {
  /** Compares once, now. */
  check(): Promise<void>;
  stop(): void;
}

/** @param inUse what is in use already, so that a change since then isn't lost; undefined if nothing is yet. */
export function watchFiles(
  files: WatchedFiles,
  inUse: readonly string[] | undefined,
  options: { readonly everySeconds: number; readonly report: FileReport },
): FileWatch {
  let seen = inUse?.join("\0");
  let faulty = false;

  const check = async () => {
    try {
      const contents = await readFiles(files.paths);
      if (contents.join("\0") === seen) return;
      seen = contents.join("\0");
      files.use(contents);
      faulty = false;
      options.report(files.name, "loaded", undefined);
    } catch (error) {
      if (faulty) return;
      faulty = true;
      options.report(files.name, "refused", reasonOf(error));
    }
  };
  const timer = setInterval(() => void check(), options.everySeconds * 1000);
  timer.unref();
  return { check, stop: () => clearInterval(timer) };
}

export function readFiles(paths: readonly string[]): Promise<readonly string[]> {
  return Promise.all(paths.map((path) => readFile(path, "utf8")));
}
