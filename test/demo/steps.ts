/** Says what is being set up, and how many seconds each step took. */
import { seconds } from "./grid.ts";
import type { Terminal } from "./terminal.ts";

export interface Steps {
  /** Ends the step before. */
  begin(what: string): void;
  end(): void;
}

export function openSteps({ paint, write }: Pick<Terminal, "paint" | "write">): Steps {
  let began: number | undefined;
  const end = () => {
    if (began !== undefined) write(` ${paint("dim", seconds((performance.now() - began) / 1000))}\n`);
    began = undefined;
  };
  return {
    begin(what) {
      end();
      began = performance.now();
      write(`${what} …`);
    },
    end,
  };
}
