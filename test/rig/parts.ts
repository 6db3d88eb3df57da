/**
 * Where the real programs are on this machine. `scripts/setup.mjs` searches, installs and builds them and writes down
 * what it found; here that note is only read, so that there is one place that knows about versions and folders.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";

export const PROGRAM_NAMES = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubectl",
  "kwok",
  /** Python with the AWS emulator installed. */
  "emulator-python",
  /** Python with moto installed. */
  "moto-python",
  "qemu",
  "busybox",
  "cpio",
  /** A folder: `vmlinuz`, and `modules` with their dependencies. */
  "guest-kernel",
  "buildah",
] as const;
export type ProgramName = (typeof PROGRAM_NAMES)[number];

const partsSchema = z.object({
  v: z.literal(1),
  /** Absolute paths. */
  programs: z.partialRecord(z.enum(PROGRAM_NAMES), z.string()),
  /** Why a program isn't there. */
  missing: z.partialRecord(z.enum(PROGRAM_NAMES), z.string()),
});

const PARTS_FILE = join(import.meta.dirname, "../../node_modules/.cache/nodekeeper/parts.json");

export type ProgramSearch =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "missing"; readonly because: string };

export function searchProgram(name: ProgramName): ProgramSearch {
  const parts = readParts();
  const path = parts?.programs[name];
  if (path !== undefined) return { kind: "found", path };
  return { kind: "missing", because: parts?.missing[name] ?? "not set up, run: npm run setup" };
}

/** Absolute path of the program. @throws if it isn't there, with the reason. */
export function programPath(name: ProgramName): string {
  const search = searchProgram(name);
  if (search.kind === "missing") throw new Error(`looking for ${name}: ${search.because}`);
  return search.path;
}

function readParts(): z.infer<typeof partsSchema> | undefined {
  let text: string;
  try {
    text = readFileSync(PARTS_FILE, "utf8");
  } catch {
    return undefined;
  }
  return partsSchema.parse(JSON.parse(text));
}
