/** What any program on Node takes, beside which the agents are to be seen. Scripts for `node -e`. */

/** Just there. */
export const BARE = "setInterval(() => undefined, 1_000_000);";

export const TIMER_MILLISECONDS = 100;

/** Wakes up ten times a second for nothing, and says at its end by how many milliseconds it was late each time. */
export const TIMER = `
const late = [];
let due = process.uptime() * 1_000 + ${TIMER_MILLISECONDS};
setTimeout(function turn() {
  late.push(Math.max(process.uptime() * 1_000 - due, 0));
  due = process.uptime() * 1_000 + ${TIMER_MILLISECONDS};
  setTimeout(turn, ${TIMER_MILLISECONDS});
}, ${TIMER_MILLISECONDS});
process.on("SIGTERM", () => {
  process.stdout.write(JSON.stringify(late));
  process.exit(0);
});`;

/** Asks the API server for its version every 5 s, and listens on loopback: the least that an agent does. */
export const HTTPS_AND_HTTP = `
const { readFileSync } = require("node:fs");
const { API_CREDENTIALS, API_SERVER } = process.env;
const agent = new (require("node:https").Agent)({ keepAlive: true, ca: readFileSync(API_CREDENTIALS + "/ca.crt") });
const headers = { authorization: "Bearer " + readFileSync(API_CREDENTIALS + "/token") };
require("node:http").createServer((request, response) => response.end()).listen(0, "127.0.0.1");
setInterval(() => require("node:https").get(API_SERVER + "/version", { agent, headers }, (answer) => answer.resume()), 5_000);`;
