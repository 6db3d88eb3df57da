import { expect, test } from "vitest";
import { helpOn, SettingsFault, SettingsReader } from "../../../node-agent/settings.ts";

const bounds = { about: "Time between renewals.", unit: "seconds", min: 1, max: 60, fallback: 5 };

test("a setting that isn't there, or is empty, has its default", () => {
  const settings = new SettingsReader({ EMPTY: " " });
  expect(settings.integer("ABSENT", bounds)).toBe(5);
  expect(settings.integer("EMPTY", bounds)).toBe(5);
  expect(settings.oneOf("MODE", ["notify", "local"], "The mode.", "notify")).toBe("notify");
  expect(settings.switch("ON", "Whether.", true)).toBe(true);
  expect(settings.finish()).toBeUndefined();
});

test("values within their bounds are read", () => {
  const settings = new SettingsReader({ N: "60", MODE: "local", ON: "false", NAME: "a", LIST: "[1]" });
  expect(settings.integer("N", bounds)).toBe(60);
  expect(settings.oneOf("MODE", ["notify", "local"], "The mode.", "notify")).toBe("local");
  expect(settings.switch("ON", "Whether.", true)).toBe(false);
  expect(settings.text("NAME", "Name of the node.")).toBe("a");
  expect(settings.parsed("LIST", "A list.", "JSON", "", (text) => text)).toBe("[1]");
  expect(settings.finish()).toBeUndefined();
});

test("all faults are told together, each with the setting and what would be right", () => {
  const settings = new SettingsReader({ N: "61", M: "5s", MODE: "Local", ON: "yes", LIST: "x" });
  settings.integer("N", bounds);
  settings.integer("M", bounds);
  settings.oneOf("MODE", ["notify", "local"], "The mode.", "notify");
  settings.switch("ON", "Whether.", true);
  settings.text("NODE_NAME", "Name of the node.");
  settings.parsed("LIST", "A list.", "JSON", "", () => {
    throw new Error("JSON with a list");
  });
  expect(() => settings.finish()).toThrow(SettingsFault);
  expect(faultsOf(settings)).toEqual([
    "  N=61: expected a whole number, 1..60 seconds",
    "  M=5s: expected a whole number, 1..60 seconds",
    "  MODE=Local: expected one of notify, local",
    "  ON=yes: expected one of true, false",
    "  NODE_NAME is missing: Name of the node.",
    "  LIST=x: expected JSON with a list",
  ]);
});

test("help lists each setting with unit, bounds and default", () => {
  const settings = new SettingsReader({});
  settings.integer("RENEW_SECONDS", bounds);
  settings.text("NODE_NAME", "Name of the node.");
  expect(helpOn(settings.described)).toBe(
    "  RENEW_SECONDS (1..60 seconds; default: 5)\n      Time between renewals.\n" +
      "  NODE_NAME (text; required)\n      Name of the node.",
  );
});

function faultsOf(settings: SettingsReader): readonly string[] {
  try {
    settings.finish();
    return [];
  } catch (error) {
    return String(error).split("\n").slice(1);
  }
}
