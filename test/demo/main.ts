/**
 * `npm run demo`: spot interruptions on a whole installation, on loopback. Reads the options, and only then loads the
 * rest: the CDK takes seconds, a question about options shouldn't.
 */
import { describeOptions, HELP, readOptions } from "./options.ts";

const reading = readOptions(process.argv.slice(2));
switch (reading.kind) {
  case "help":
    console.log(HELP);
    break;
  case "fault":
    console.error(reading.message);
    process.exitCode = 2;
    break;
  case "options": {
    console.log(describeOptions(reading.options));
    const { runDemo } = await import("./run-demo.ts");
    process.exitCode = await runDemo(reading.options);
  }
}
