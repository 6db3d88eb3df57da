import { describe, expect, test } from "vitest";
import { type OptionsReading, readOptions } from "../../demo/options.ts";

const DEFAULTS = { nodes: 10, pods: 30, interrupt: 3, cluster: "embedded", keep: false } as const;

function faultOf(...args: string[]): string {
  const reading = readOptions(args);
  return reading.kind === "fault" ? reading.message : `no fault: ${JSON.stringify(reading)}`;
}

describe("the demo's options", () => {
  test.each<[string[], OptionsReading]>([
    [[], { kind: "options", options: DEFAULTS }],
    [["--nodes", "40", "--pods=0"], { kind: "options", options: { ...DEFAULTS, nodes: 40, pods: 0 } }],
    [["--cluster", "real", "--keep"], { kind: "options", options: { ...DEFAULTS, cluster: "real", keep: true } }],
    [["--help", "--nodes", "x"], { kind: "help" }],
  ])("%j are understood", (args, expected) => {
    expect(readOptions(args)).toEqual(expected);
  });

  test("fewer nodes than are interrupted by default means: all of them", () => {
    expect(readOptions(["--nodes", "2"])).toMatchObject({ options: { nodes: 2, interrupt: 2 } });
  });

  test.each([
    ["--nodes", "x"],
    ["--nodes", "0"],
    ["--nodes", "201"],
    ["--nodes", "1.5"],
    ["--nodes", "-1"],
    ["--nodes", ""],
    ["--pods", "1e3"],
    ["--interrupt", "0"],
    ["--cluster", "kind"],
  ])("%s %j is refused with the option's name and an example", (option, value) => {
    const fault = faultOf(`${option}=${value}`);
    expect(fault).toContain(`${option}: "${value}"`);
    expect(fault).toContain(`for example ${option}`);
  });

  test("more interrupted nodes than nodes are refused", () => {
    expect(faultOf("--nodes", "4", "--interrupt", "5")).toContain("--interrupt");
  });

  test.each([["--colour"], ["again"], ["--nodes"], ["--keep=yes"]])("%s is refused by its name", (arg) => {
    expect(faultOf(arg)).toContain(arg.replace(/=.*/, ""));
  });
});
