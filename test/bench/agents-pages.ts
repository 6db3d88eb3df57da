/** Asks the pages that an agent serves on loopback, as the kubelet and a scraper do. */
import { waitUntil } from "../rig/wait.ts";

const ANSWER_MILLISECONDS = 10_000;
const START_MILLISECONDS = 60_000;

export interface AgentPages {
  /** Value of a series without labels, or with them as they are written. @throws where there is none. */
  metrics(...series: readonly string[]): Promise<readonly number[]>;
  /** Resolves when the agent serves its pages and this series has at least this value. */
  waitFor(series: string, atLeast: number): Promise<void>;
}

export function pagesOn(port: number): AgentPages {
  async function metrics(...series: readonly string[]): Promise<readonly number[]> {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, {
      signal: AbortSignal.timeout(ANSWER_MILLISECONDS),
    });
    const lines = (await answer.text()).split("\n");
    return series.map((name) => {
      const line = lines.find((each) => each.startsWith(`${name} `));
      if (line === undefined) throw new Error(`reading the metrics: there is no ${name}`);
      return Number(line.slice(name.length + 1));
    });
  }
  return {
    metrics,
    async waitFor(series, atLeast) {
      const isSo = async () => ((await metrics(series).catch(() => []))[0] ?? -1) >= atLeast;
      await waitUntil(`${series} is ${atLeast}`, isSo, { withinMilliseconds: START_MILLISECONDS });
    },
  };
}
