/**
 * Where the demo writes to. On a terminal an area can be drawn again in place; anywhere else, and on CI, there are only
 * lines, without a single escape code.
 */
import { styleText } from "node:util";

export type Style = "bold" | "dim" | "green" | "yellow" | "red" | "cyan";
/** The text in a style, or as it is where there are no colours. */
export type Paint = (style: Style, text: string) => string;

export interface Terminal {
  /** Whether areas can be drawn again in place. */
  readonly isLive: boolean;
  readonly paint: Paint;
  /** How many lines fit; more must not be drawn in place. */
  rows(): number;
  write(text: string): void;
  writeLines(lines: readonly string[]): void;
  /** Draws the area, over its last drawing. */
  draw(lines: readonly string[]): void;
  /** The area stays as it is; the next drawing is a new one. */
  leaveArea(): void;
}

export interface TerminalStream {
  readonly isTTY?: boolean;
  readonly rows?: number;
  write(text: string): unknown;
}

const ESCAPE = "\u001b[";
const HIDE_CURSOR = `${ESCAPE}?25l`;
const SHOW_CURSOR = `${ESCAPE}?25h`;
/** Lines that are too long are cut at the edge, so that the area has as many lines on the screen as were drawn. */
const CUT_LINES = `${ESCAPE}?7l`;
const WRAP_LINES = `${ESCAPE}?7h`;
const CLEAR_REST_OF_LINE = `${ESCAPE}K`;

/** @param env NO_COLOR (https://no-color.org), CI and TERM are heeded. */
export function openTerminal(stream: TerminalStream, env: Readonly<Record<string, string | undefined>>): Terminal {
  const isLive = stream.isTTY === true && !env.CI && env.TERM !== "dumb";
  const hasColours = isLive && !env.NO_COLOR;
  let drawn = 0;

  const write = (text: string) => void stream.write(text);
  return {
    isLive,
    paint: (style, text) => (hasColours ? styleText(style, text, { validateStream: false }) : text),
    rows: () => stream.rows ?? 24,
    write,
    writeLines: (lines) => write(lines.map((line) => `${line}\n`).join("")),
    draw(lines) {
      const back = drawn > 0 ? `${ESCAPE}${drawn}A\r` : "";
      const text = lines.map((line) => `${line}${CLEAR_REST_OF_LINE}\n`).join("");
      write(`${HIDE_CURSOR}${CUT_LINES}${back}${text}${ESCAPE}J`);
      drawn = lines.length;
    },
    leaveArea() {
      if (drawn > 0) write(`${WRAP_LINES}${SHOW_CURSOR}`);
      drawn = 0;
    },
  };
}
