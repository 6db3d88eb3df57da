/** The node agents' own manifests, with the components that a test wants, as kustomize renders them. */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

const MANIFESTS = join(import.meta.dirname, "../../node-agent/manifests");

/** Where the agents' service account and pods are. */
export const AGENT_NAMESPACE = "nodekeeper-node-agent";
export const AGENT_ACCOUNT = "nodekeeper-node-agent";

/** An overlay as an operator would write it: the base and these components. The folder is removed afterwards. */
export async function withOverlay<T>(
  components: readonly string[],
  use: (folder: string) => Promise<T>,
  others: readonly string[] = [],
): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "nodekeeper-overlay-")));
  // kustomize takes relative paths only.
  const from = (path: string) => relative(folder, path);
  const overlay = {
    resources: [join(MANIFESTS, "base"), ...others].map(from),
    components: components.map((name) => from(join(MANIFESTS, "components", name))),
  };
  try {
    await writeFile(join(folder, "kustomization.yaml"), JSON.stringify(overlay));
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
