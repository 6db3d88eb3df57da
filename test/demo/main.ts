/**
 * `npm run demo`: spot interruptions on a whole installation, on loopback. Reads the options, and only then loads the
 * rest: the CDK takes seconds, a question about options shouldn't.
 */
import { type DemoOptions, describeOptions, HELP, readOptions } from "./options.ts";
import { setUpRealParts } from "./set-up-real-parts.ts";

const reading = readOptions(process.argv.slice(2));
switch (reading.kind) {
  case "help":
    console.log(HELP);
    break;
  case "fault":
    console.error(reading.message);
    process.exitCode = 2;
    break;
  case "options":
    process.exitCode = await play(reading.options);
}

/** Gives the exit code. */
async function play(options: DemoOptions): Promise<number> {
  console.log(describeOptions(options));
  if (options.cluster === "real" && !(await setUpRealParts())) return 1;
  const { runDemo } = await import("./run-demo.ts");
  return await runDemo(options);
}
