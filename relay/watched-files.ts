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
  let seen = first.join("\0");
  let faulty = false;

  const check = async () => {
    try {
      const contents = await readAll(paths);
      if (contents.join("\0") === seen) return;
      seen = contents.join("\0");
      use(...contents);
      faulty = false;
      options.report(name, "loaded", undefined);
    } catch (error) {
      if (faulty) return;
      faulty = true;
      options.report(name, "refused", reasonOf(error));
    }
  };
  const timer = setInterval(() => void check(), options.everySeconds * 1000);
  timer.unref();
  return { check, stop: () => clearInterval(timer) };
}

function readAll(paths: readonly string[]): Promise<string[]> {
  return Promise.all(paths.map((path) => readFile(path, "utf8")));
}
