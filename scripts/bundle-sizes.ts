/** How big a bundle is: what every start reads, and all of it. */
import type { Metafile } from "esbuild";

export interface BundleSizes {
  /** What is read at every start: the entry and the chunks that it imports statically. */
  readonly startBytes: number;
  /** All files of the bundle, chunks that are loaded on demand included. Source maps don't count. */
  readonly totalBytes: number;
}

/** `entry` is the entry's path as the bundler reports it. */
export function sizesOf(outputs: Metafile["outputs"], entry: string): BundleSizes {
  return {
    startBytes: bytesOf(outputs, filesAtStart(outputs, entry)),
    totalBytes: bytesOf(
      outputs,
      Object.keys(outputs).filter((path) => !path.endsWith(".map")),
    ),
  };
}

function filesAtStart(outputs: Metafile["outputs"], entry: string): Set<string> {
  const found = new Set<string>();
  const open = [entry];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const output = outputs[path];
    if (output === undefined || found.has(path)) continue;
    found.add(path);
    open.push(...output.imports.filter((one) => one.kind === "import-statement").map((one) => one.path));
  }
  return found;
}

function bytesOf(outputs: Metafile["outputs"], paths: Iterable<string>): number {
  return [...paths].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0);
}
