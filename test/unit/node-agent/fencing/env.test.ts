/** The agent's settings: what is accepted, what is refused with its reason, and which group a node is in. */
import { expect, test } from "vitest";
import { describedSettings, readSettings } from "../../../../node-agent/fencing/env.ts";
import { maintenanceOf, wantedOf } from "../../../../node-agent/fencing/wanted.ts";
import { SettingsFault } from "../../../../node-agent/settings.ts";
import { MAINTENANCE_ANNOTATIONS } from "../../../../shared/domain/keys.ts";

const POD = { NODE_NAME: "node-1", KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };

function refusal(env: Readonly<Record<string, string>>): string {
  try {
    readSettings({ ...POD, ...env });
    return "accepted";
  } catch (error) {
    return error instanceof SettingsFault ? error.message : `another error: ${String(error)}`;
  }
}

test("in a pod without any setting it only notifies", () => {
  expect(readSettings(POD)).toMatchObject({
    nodeName: "node-1",
    apiServer: "https://10.0.0.1:443",
    opsPort: 9809,
    device: "/dev/watchdog",
    requestTimeoutMs: 5_000,
    protocol: {
      rules: { mode: "notify", acceptNowayout: false, groups: [] },
      renewEveryMs: 5_000,
      feedWithinMs: 10_000,
    },
  });
});

test.each<[string, Readonly<Record<string, string>>, RegExp]>([
  ["watchdog without a yes to resets", { FENCING_MODE: "watchdog" }, /FENCING_MODE: mode watchdog resets/],
  [
    "a group in watchdog without a yes to resets",
    { FENCING_GROUPS: '[{"labels":{"pool":"db"},"mode":"watchdog"}]' },
    /FENCING_GROUPS, group 1: mode watchdog resets/,
  ],
  [
    "a group that takes the yes back",
    {
      FENCING_MODE: "watchdog",
      FENCING_ACCEPT_RESET_ON_API_OUTAGE: "true",
      FENCING_GROUPS: '[{"labels":{"pool":"db"},"mode":"watchdog","acceptResetOnApiOutage":false}]',
    },
    /group 1: mode watchdog resets/,
  ],
  [
    "a group without labels, which would be all nodes",
    { FENCING_GROUPS: '[{"labels":{},"mode":"local"}]' },
    /at least one/,
  ],
  ["a label that is no text", { FENCING_GROUPS: '[{"labels":{"a":1},"mode":"local"}]' }, /as texts/],
  [
    "a mode that is unknown",
    { FENCING_GROUPS: '[{"labels":{"a":"b"},"mode":"Watchdog"}]' },
    /one of watchdog, local, notify/,
  ],
  ["a key that is unknown", { FENCING_GROUPS: '[{"labels":{"a":"b"},"mode":"local","nowayout":true}]' }, /"nowayout"/],
  ["groups that are no list", { FENCING_GROUPS: "{}" }, /JSON list/],
  ["G below the request's timeout", { FENCING_FEED_WITHIN_SECONDS: "4" }, /less than FENCING_REQUEST_TIMEOUT_SECONDS/],
  ["an API server without TLS", { API_SERVER: "http://127.0.0.1:8080" }, /https/],
])("it refuses %s", (_what, env, reason) => {
  expect(refusal(env)).toMatch(reason);
});

test("all faults are told together", () => {
  const text = refusal({ FENCING_MODE: "watchdog", NODE_NAME: "", FENCING_RENEW_SECONDS: "0", API_SERVER: "x" });
  for (const name of ["FENCING_MODE", "NODE_NAME", "FENCING_RENEW_SECONDS", "API_SERVER"]) expect(text).toContain(name);
});

test("help names every setting once", () => {
  const names = describedSettings().map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(["NODE_NAME", "FENCING_MODE", "FENCING_GROUPS", "API_SERVER"]));
});

test("the first group whose labels the Node has wins, and inherits what it doesn't say", () => {
  const groups = [
    { labels: { pool: "db", zone: "a" }, mode: "notify" },
    { labels: { pool: "db" }, mode: "watchdog", acceptNowayout: false },
    { labels: { pool: "web" }, mode: "watchdog" },
  ];
  const { rules } = readSettings({
    ...POD,
    FENCING_MODE: "local",
    FENCING_ACCEPT_RESET_ON_API_OUTAGE: "true",
    FENCING_ACCEPT_NOWAYOUT: "true",
    FENCING_GROUPS: JSON.stringify(groups),
  }).protocol;
  expect(wantedOf({ pool: "db", zone: "a", more: "" }, rules)).toEqual({ mode: "notify", acceptNowayout: true });
  expect(wantedOf({ pool: "db", zone: "b" }, rules)).toEqual({ mode: "watchdog", acceptNowayout: false });
  expect(wantedOf({ pool: "web" }, rules)).toEqual({ mode: "watchdog", acceptNowayout: true });
  expect(wantedOf({}, rules)).toEqual({ mode: "local", acceptNowayout: true });
});

test.each(MAINTENANCE_ANNOTATIONS)("%s means maintenance, whatever it says", (key) => {
  expect(maintenanceOf({ other: "x", [key]: "" })).toBe(key);
});

test("other annotations mean nothing", () => {
  expect(maintenanceOf({ "nodekeeper.dev/drain": "{}" })).toBeUndefined();
});
