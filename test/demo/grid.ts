/** Rows of cells as lines of text in columns. Pure. */
import type { Paint, Style } from "./terminal.ts";

export interface Cell {
  readonly text: string;
  readonly style?: Style;
}

const GAP = "  ";

/** Each column as wide as its widest cell; colours take no room. */
export function grid(rows: readonly (readonly Cell[])[], paint: Paint): readonly string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...rows.map((row) => row[at]?.text.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => paintCell(cell, widths[at] ?? 0, paint))
      .join(GAP)
      .trimEnd(),
  );
}

export function header(...titles: readonly string[]): readonly Cell[] {
  return titles.map((text) => ({ text, style: "dim" }));
}

function paintCell({ text, style }: Cell, width: number, paint: Paint): string {
  const padding = " ".repeat(width - text.length);
  return `${style === undefined || text === "" ? text : paint(style, text)}${padding}`;
}

/** `12.3 s`, or a dash where there is no such time. */
export function seconds(value: number | undefined): string {
  return value === undefined ? "-" : `${value.toFixed(1)} s`;
}
