import { describe, expect, test } from "vitest";
import { openTerminal, type TerminalStream } from "../../demo/terminal.ts";

function recorder(isTTY: boolean): TerminalStream & { text(): string } {
  let written = "";
  return { isTTY, rows: 24, write: (text) => (written += text), text: () => written };
}

const ESCAPE = "\u001b";

describe("the demo's terminal", () => {
  test("draws an area over its last drawing", () => {
    const stream = recorder(true);
    const terminal = openTerminal(stream, {});
    terminal.draw(["one", "two"]);
    expect(stream.text()).not.toContain(`${ESCAPE}[2A`);
    terminal.draw(["three"]);
    expect(stream.text()).toContain(`${ESCAPE}[2A`);
  });

  test("gives the cursor back when the area is left", () => {
    const stream = recorder(true);
    const terminal = openTerminal(stream, {});
    terminal.draw(["one"]);
    terminal.leaveArea();
    expect(stream.text().endsWith(`${ESCAPE}[?7h${ESCAPE}[?25h`)).toBe(true);
  });

  test.each<[string, boolean, Record<string, string>]>([
    ["output goes to a file", false, {}],
    ["it runs on CI", true, { CI: "true" }],
    ["the terminal is dumb", true, { TERM: "dumb" }],
  ])("writes no escape code when %s", (_, isTTY, env) => {
    const stream = recorder(isTTY);
    const terminal = openTerminal(stream, env);
    expect(terminal.isLive).toBe(false);
    terminal.writeLines([terminal.paint("red", "a line")]);
    terminal.leaveArea();
    expect(stream.text()).toBe("a line\n");
  });

  test("paints nothing where NO_COLOR is set, and still draws in place", () => {
    const terminal = openTerminal(recorder(true), { NO_COLOR: "1" });
    expect(terminal.paint("red", "text")).toBe("text");
    expect(terminal.isLive).toBe(true);
  });

  test("paints on an ordinary terminal", () => {
    expect(openTerminal(recorder(true), {}).paint("red", "text")).toBe(`${ESCAPE}[31mtext${ESCAPE}[39m`);
  });
});
