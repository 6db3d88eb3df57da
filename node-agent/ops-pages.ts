/**
 * Serves an agent's pages, and lives without them while another program has their port: a strike needs none, and a dog
 * that was left running is taken over all the same, which an agent that ended for want of a port would not do.
 */
import { type Log, reasonOf } from "./log.ts";
import { type OpsPaths, type OpsServer, serveOps } from "./ops-server.ts";
import type { Problems } from "./problems.ts";

export interface OpsPagesParts {
  /** 0 takes a free one. */
  readonly port: number;
  readonly paths: OpsPaths;
  readonly problems: Pick<Problems, "found">;
  readonly log: Log;
}

export class OpsPages {
  readonly #parts: OpsPagesParts;
  #server: OpsServer | undefined;

  constructor(parts: OpsPagesParts) {
    this.#parts = parts;
  }

  /** Undefined while they aren't served. */
  get port(): number | undefined {
    return this.#server?.port;
  }

  /** To be called again and again, never twice at a time. Tries where they aren't served yet, and never rejects. */
  async turn(): Promise<void> {
    if (this.#server !== undefined) return;
    const { port, paths, problems, log } = this.#parts;
    try {
      this.#server = await serveOps(port, paths);
      problems.found("pages", []);
      log("info", "pages are served", { opsPort: this.#server.port });
    } catch (error) {
      problems.found("pages", [`serving the pages on port ${port}: ${reasonOf(error)}`]);
    }
  }

  close(): void {
    this.#server?.close();
  }
}
