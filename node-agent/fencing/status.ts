/** `status`: asks the agent that runs on this node, and tells a person in a few lines what it is up to. */
import { get } from "node:http";
import { parseJson } from "../../shared/domain/parse-json.ts";
import { reasonOf } from "../log.ts";
import { type Fields, fieldsOf } from "./fields.ts";

export interface StatusAnswer {
  readonly text: string;
  /** 0: as wanted; 1: something is wrong; 3: no agent answers. 2 is for a wrong command line. */
  readonly exitCode: 0 | 1 | 3;
}

const ANSWER_MS = 3_000;
const MAX_ANSWER_CHARACTERS = 64 * 1024;

export async function askStatus(port: number): Promise<StatusAnswer> {
  try {
    const report = fieldsOf(parseJson(await fetchText(port)));
    if (typeof report.modeInForce !== "string") throw new Error("the answer isn't a fencing-agent's");
    return { text: describe(report), exitCode: isWrong(report) ? 1 : 0 };
  } catch (error) {
    return { text: `no fencing-agent answers on 127.0.0.1:${port}: ${reasonOf(error)}\n`, exitCode: 3 };
  }
}

function isWrong(report: Fields): boolean {
  const { problem, renewalsFailBecause, nodeUnreadBecause, modeInForce, modeWanted, maintenance } = report;
  const isOtherMode = modeInForce !== modeWanted && maintenance === undefined;
  return [problem, renewalsFailBecause, nodeUnreadBecause].some((one) => one !== undefined) || isOtherMode;
}

function describe(report: Fields): string {
  const text = (key: string, otherwise: string, tell = (value: string) => value) => {
    const value = report[key];
    return typeof value === "string" || typeof value === "number" ? tell(String(value)) : otherwise;
  };
  const lines: readonly (readonly [string, unknown])[] = [
    ["node", report.node],
    ["agent", report.agent],
    ["mode", `${text("modeInForce", "?")} (wanted: ${text("modeWanted", "not known yet")})`],
    ["armed", report.armed === true ? "yes" : "no"],
    [
      "dog",
      text("watchdogTimeoutSeconds", "none is held", (seconds) => `held, resets the node ${seconds} s after a feed`),
    ],
    [
      "last renewal",
      text("secondsSinceAcceptedRenewal", "none was accepted yet", (age) => `accepted, sent ${age} s ago`),
    ],
    ["feeds", report.feeds],
    ["because", report.because],
    ["problem", report.problem],
    ["maintenance", report.maintenance],
    ["renewals fail", report.renewalsFailBecause],
    ["unread", report.nodeUnreadBecause],
    ["recent crashes", report.recentCrashes],
  ];
  return lines
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${`${name}:`.padEnd(16)}${String(value)}\n`)
    .join("");
}

function fetchText(port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { host: "127.0.0.1", port, path: "/status", signal: AbortSignal.timeout(ANSWER_MS) };
  get(options, (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      text += chunk;
      if (text.length > MAX_ANSWER_CHARACTERS) response.destroy(new Error("the answer is too long"));
    });
    response.on("error", reject);
    response.on("end", () => resolve(text));
  }).on("error", reject);
  return promise;
}
