/** On the way from the loop into the spool: the loop hands over a report and goes on. */
import { reasonOf } from "../../log.ts";
import type { Journal } from "../journal.ts";
import type { StrikeReport } from "../report.ts";
import { eventsOf } from "./events.ts";
import type { Spool } from "./spool.ts";

/** Puts the Events of strikes into the spool, one after the other, without anybody waiting. */
export class Keeping {
  readonly #spool: Spool;
  readonly #journal: Journal;
  done: Promise<void> = Promise.resolve();

  constructor(spool: Spool, journal: Journal) {
    this.#spool = spool;
    this.#journal = journal;
  }

  keep(report: StrikeReport): void {
    for (const event of eventsOf(report)) {
      const { name } = event.metadata;
      const drop = (dropped: string, because: string) =>
        this.#journal.posted({ kind: "dropped", event: dropped, because });
      this.done = this.done
        .then(() => this.#spool.put(event))
        .then(
          (files) => {
            for (const file of files) drop(file, "the spool is full");
          },
          (error: unknown) => drop(name, `keeping an Event: ${reasonOf(error)}`),
        );
    }
  }
}
