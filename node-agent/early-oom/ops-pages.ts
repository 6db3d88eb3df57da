/** Serves early-oom's pages, and lives without them while another program has their port: strikes need none. */
import { reasonOf } from "../log.ts";
import { type OpsPaths, type OpsServer, serveOps } from "../ops-server.ts";
import type { Journal } from "./journal.ts";

export class OpsPages {
  readonly #asked: number;
  readonly #paths: OpsPaths;
  readonly #journal: Journal;
  #server: OpsServer | undefined;

  /** @param asked the port; 0 takes a free one. */
  constructor(asked: number, paths: OpsPaths, journal: Journal) {
    this.#asked = asked;
    this.#paths = paths;
    this.#journal = journal;
  }

  /** Undefined while they aren't served. */
  get port(): number | undefined {
    return this.#server?.port;
  }

  /** To be called again and again, never twice at a time. Tries where they aren't served yet, and never rejects. */
  async turn(): Promise<void> {
    if (this.#server !== undefined) return;
    try {
      this.#server = await serveOps(this.#asked, this.#paths);
      this.#journal.found("pages", []);
    } catch (error) {
      this.#journal.found("pages", [`serving the pages on port ${this.#asked}: ${reasonOf(error)}`]);
    }
  }

  close(): void {
    this.#server?.close();
  }
}
