/** The machine that tests of the node agents run in: that it is one, and that it ends like one. */
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { takePlace } from "../rig/guest/places.ts";
import { type Guest, startGuest } from "../rig/guest/start-guest.ts";
import { describeReal } from "../rig/real-parts.ts";

const PANIC = /Kernel panic - not syncing: Software Watchdog Timer expired/;

/** Feeds the dog each second; asked to end, it gives the dog up in order, with the magic character. */
const FEEDER = `
  trap 'echo -n V >&3; exec 3>&-; echo closed; exit' TERM
  exec 3>/dev/watchdog
  while :; do echo -n . >&3; fed=$((fed + 1)); echo "fed $fed"; sleep 1; done`;

function startFed(): Promise<Guest> {
  return startGuest({
    modules: ["softdog soft_margin=5 soft_panic=1"],
    files: [{ content: FEEDER, to: "/feeder" }],
    script: "sh /feeder & echo $! >/run/feeder; wait",
  });
}

describeReal("a guest", ["guest"], () => {
  it("runs our Node on a kernel with what a node has", async () => {
    const files = [{ content: "console.log('Node', process.version, new Date().toISOString())", to: "/hello.cjs" }];
    await using guest = await startGuest({ files, script: "node /hello.cjs" });

    const [, version, time] = (await guest.waitForLine(/^Node /)).split(" ");
    expect(version).toBe(process.version);
    expect(Math.abs(Date.parse(time ?? "") - Date.now())).toBeLessThan(60_000);
    expect(await guest.waitForLine(/^guest: script ended/)).toBe("guest: script ended (0)");

    const { output } = await guest.run(
      "mkdir /sys/fs/cgroup/one && ls /sys/fs/cgroup/one && cat /proc/pressure/memory",
    );
    expect(output).toMatch(/^cgroup\.kill$/m);
    expect(output).toMatch(/^memory\.high$/m);
    expect(output).toMatch(/^pids\.max$/m);
    expect(output).toMatch(/^full avg10=/m);
  });

  it("reaches what listens on this machine's loopback, and nothing else", async () => {
    await using server = createServer((_, response) => response.end("hello from the host")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    await using guest = await startGuest({ network: true, script: "" });

    expect(await guest.run(`wget -q -O - http://10.0.2.2:${port}/`)).toEqual({
      output: "hello from the host",
      exitCode: 0,
    });
    // An address for documentation: RFC 5737.
    const elsewhere = `node -e 'fetch("http://192.0.2.1/").catch((error) => console.log(error.cause.code))'`;
    expect((await guest.run(elsewhere)).output).toBe("ENETUNREACH\n");
  });

  it("panics when the process that feeds its watchdog is killed", async () => {
    await using guest = await startFed();
    await guest.waitForLine(/^fed 3$/);
    const { output } = await guest.run("cd /sys/class/watchdog/watchdog0; cat state timeout nowayout");
    expect(output).toBe("active\n5\n0\n");
    // Three times what the dog waits for.
    await guest.run("sleep 15");
    expect(guest.console).not.toMatch(PANIC);
    await guest.run("kill -9 $(cat /run/feeder)");

    await guest.waitForLine(PANIC, 30_000);
    await guest.waitForExit(15_000);
  });

  it("lives on when its watchdog was given up in order", async () => {
    await using guest = await startFed();
    await guest.waitForLine(/^fed 3$/);
    await guest.run("kill $(cat /run/feeder)");
    await guest.waitForLine(/^closed$/);
    await guest.run("sleep 8");

    expect((await guest.run("cat /sys/class/watchdog/watchdog0/state")).output).toBe("inactive\n");
    expect(guest.console).not.toMatch(PANIC);
  });

  it("knows nothing of a pause, its watchdog included", async () => {
    await using guest = await startFed();
    await guest.waitForLine(/^fed 3$/);
    await guest.pause();
    const before = guest.console;
    await sleep(8_000);
    expect(guest.console).toBe(before);
    await guest.resume();

    await guest.run("sleep 2");
    expect(guest.console.length).toBeGreaterThan(before.length);
    expect(guest.console).not.toMatch(PANIC);
  });

  it("answers one command while another hangs, and says what a lost one was", async () => {
    // Pressure isn't measured on every node.
    await using guest = await startGuest({ script: "echo begun", kernelArguments: ["psi=0"] });
    await expect(guest.run("sleep 300", 1000)).rejects.toThrow(
      /"sleep 300": not within 1000 ms; .*ends with\n.*begun/s,
    );
    expect(await guest.run("echo out; echo err >&2; exit 3")).toEqual({ output: "out\nerr\n", exitCode: 3 });
    expect(await guest.run("ls /proc/pressure")).toMatchObject({ exitCode: 1 });
    // Each is sent at the very moment when the one before it ends.
    for (let turn = 0; turn < 20; turn += 1) expect((await guest.run(`echo ${turn}`, 10_000)).output).toBe(`${turn}\n`);
    const [long, short] = await Promise.all([guest.run("head -c 30000 /dev/zero | base64"), guest.run("echo short")]);
    expect(Buffer.from(long.output, "base64")).toEqual(Buffer.alloc(30_000));
    expect(short.output).toBe("short\n");
  });

  it("that hangs is ended when its time is over, and fails its test", async () => {
    const guest = await startGuest({ script: "echo hanging; sleep 300", timeoutMilliseconds: 20_000 });
    await expect(guest.waitForLine(/never printed/)).rejects.toThrow(/the guest ended before; .*hanging/s);
    await expect(guest.stop()).rejects.toThrow(/outlived its 20000 ms; .*hanging/s);
    expect(guest.isRunning()).toBe(false);
  });

  it("that can't load what was asked for isn't handed out", async () => {
    const start = { modules: ["no-such-module"], script: "" };
    await expect(startGuest(start)).rejects.toThrow(/guest: loading no-such-module failed/);
  });

  it("waits for its place where two run already", async () => {
    using first = await takePlace();
    using _second = await takePlace();
    const third = takePlace();
    expect(await Promise.race([third, sleep(500, "waiting")])).toBe("waiting");
    first[Symbol.dispose]();
    (await third)[Symbol.dispose]();
  });
});
