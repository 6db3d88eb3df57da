/** `npm run bench`: figures as ratios within one run, printed and never asserted. */
import { parseArgs } from "node:util";
import { benchAgents } from "./agents.ts";
import { benchColdstart } from "./coldstart.ts";
import { benchStorm } from "./storm.ts";

const HELP = `usage: npm run bench -- storm [--nodes N] [--pods N]
       npm run bench -- coldstart [--runs N]
       npm run bench -- agents [--seconds N] [--json]

storm      N notices at once through the whole installation, on a real API server, beside one process that makes
           the same cordons and evictions directly (default: 50 nodes with 10 pods that take 5 s to stop)
coldstart  size, import time and memory of drain-node's bundle, beside an empty function's (default: 7 runs)
agents     memory, CPU time and punctuality of the node agents' bundles, beside bare Node, and the time that early-oom
           takes from the line to the strike (default: 300 s of everyday work, some 3 minutes more in all)`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    nodes: { type: "string", default: "50" },
    pods: { type: "string", default: "10" },
    runs: { type: "string", default: "7" },
    seconds: { type: "string", default: "300" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  },
});

const [what] = positionals;
if (values.help) console.log(HELP);
else if (what === "storm") await benchStorm({ nodes: count("nodes", values.nodes), pods: count("pods", values.pods) });
else if (what === "coldstart") await benchColdstart(count("runs", values.runs));
else if (what === "agents") await benchAgents({ seconds: count("seconds", values.seconds), json: values.json });
else fail(what === undefined ? "say what to measure" : `nothing is measured under the name ${what}`);

function count(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 500) fail(`--${option} must be a whole number from 1 to 500`);
  return number;
}

function fail(message: string): never {
  console.error(`${message}\n\n${HELP}`);
  process.exit(2);
}
