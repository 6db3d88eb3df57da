/**
 * Serves the agent's pages, and lives without them while another program has the port: a dog that was left running is
 * taken over all the same, which an agent that ended for want of a port would not do.
 */
import { type Log, reasonOf } from "../log.ts";
import { type OpsPaths, serveOps } from "../ops-server.ts";

const AGAIN_MS = 10_000;

export interface PageServing {
  readonly port: number;
  readonly pages: OpsPaths;
  readonly log: Log;
  /** Milliseconds until the next try. */
  readonly againMs?: number;
}

/** Returns after the first try; the others follow until one succeeds. */
export async function servePages(serving: PageServing): Promise<void> {
  const because = await tryOnce(serving);
  if (because === undefined) return;
  serving.log("error", "pages are not served, the port is tried again", { opsPort: serving.port, because });
  tryLater(serving);
}

function tryLater(serving: PageServing): void {
  const tryAgain = async () => {
    if ((await tryOnce(serving)) !== undefined) tryLater(serving);
  };
  setTimeout(() => void tryAgain(), serving.againMs ?? AGAIN_MS);
}

/** Why they aren't served, if so. */
async function tryOnce({ port, pages, log }: PageServing): Promise<string | undefined> {
  try {
    const server = await serveOps(port, pages);
    log("info", "pages are served", { opsPort: server.port });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}
