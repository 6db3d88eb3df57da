/** early-oom on a real kernel without swap: who dies when memory ends, and that it is not the kernel that chooses. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { describeReal } from "../rig/real-parts.ts";
import { cgroupOf, FORK_BOMB_FILE, hogCommand } from "../support/guest/memory-load.ts";
import { KERNEL_KILLS, MEMORY_LIFE_MILLISECONDS } from "../support/guest/memory-node.ts";
import { type MemorySuite, startMemorySuite } from "../support/guest/memory-suite.ts";

/** More than the node has. */
const LEAK = { upToMib: 2_000, mibPerSecond: 30 };
/** As a kubelet's podPidsLimit. */
const MAX_PROCESSES = 1_000;

vi.setConfig({ testTimeout: MEMORY_LIFE_MILLISECONDS });

describeReal("a node with early-oom", ["control plane", "guest"], () => {
  let suite: MemorySuite;
  beforeAll(async () => {
    suite = await startMemorySuite();
  });
  afterAll(() => suite?.[Symbol.asyncDispose]());

  it.concurrent("leaves anonymous load alone that is steady for three minutes at 97 % of memory", async () => {
    await using node = await suite.startNode({ name: "steady", pods: { full: { requestMib: 50 } } });
    const totalMib = Number((await node.guest.run("grep MemTotal /proc/meminfo")).output.split(/ +/)[1]) / 1024;
    // So slowly across the line of 5 %, and from so far above it, that a step of somebody else's beside it is no leak yet.
    await node.hog("full", {
      upToMib: 2_000,
      mibPerSecond: 20,
      slowBelowMib: 0.065 * totalMib,
      untilAvailableMib: 0.03 * totalMib,
    });
    const isFull = async () => (await node.availableMib()) < 0.031 * totalMib;
    await node.waitUntil("97 % of memory are taken", isFull, 240_000);
    await pause(180_000);
    expect(await node.availableMib()).toBeLessThan(0.045 * totalMib);
    expect(node.log().map(({ message }) => message)).not.toContain("strike");
    expect(await node.processesOf("full")).toBeGreaterThan(0);
    expect(await node.kernelKills()).toBe(0);
  });

  it.concurrent("case 55, case 53, case 56: kills a fast leak as a whole before the kernel does, names it, and takes no second victim", async () => {
    await using node = await suite.startNode({
      name: "leak",
      pods: { leaker: { requestMib: 50 }, bystander: { requestMib: 10 } },
    });
    await node.hog("bystander", { upToMib: 60, mibPerSecond: 60 });
    await node.hog("leaker", LEAK);
    expect(await node.waitForLog("strike")).toMatchObject({
      mode: "userspace",
      rule: "A",
      pod: "default/leak-leaker",
      container: "main",
    });
    await node.waitForLog("strike took effect");
    expect(await node.processesOf("leaker")).toBe(0);

    const isTold = async () => (await suite.cluster.events(node.pod("leaker"), "EarlyOomKilled")).length > 0;
    await node.waitUntil("an Event is on the pod", isTold, 30_000);
    const [event] = await suite.cluster.events(node.pod("leaker"), "EarlyOomKilled");
    // The child that leaked and the shell above it, both by name.
    expect(event).toMatch(/Killed container main of pod default\/leak-leaker as a whole \(\d+ sh, \d+ MainThread\)/);

    await pause(20_000);
    expect(node.log().filter(({ message }) => message === "strike")).toHaveLength(1);
    expect(await node.processesOf("bystander")).toBeGreaterThan(0);
    expect(await node.kernelKills()).toBe(0);
    expect(node.guest.console).not.toMatch(KERNEL_KILLS);
  });

  it.concurrent("leaves a page cache that fills all memory alone", async () => {
    await using node = await suite.startNode({
      name: "busy",
      pods: { reader: { requestMib: 10 } },
      modules: ["loop"],
    });
    // A device over a file with nothing in it: what is read of it is cached, for as long as somebody has it open.
    await node.guest.run("truncate -s 3G /tmp/disk && losetup /dev/loop0 /tmp/disk");
    await node.runIn("reader", "exec 3</dev/loop0; while :; do cat /dev/loop0 >/dev/null; done");
    const isCached = async () => Number((await node.guest.run("free -m | awk '/^Mem/ { print $4 }'")).output) < 60;
    await node.waitUntil("free memory is used up by the cache", isCached, 120_000);
    await pause(20_000);
    expect(node.log().map(({ message }) => message)).not.toContain("strike");
    expect(await node.processesOf("reader")).toBeGreaterThan(0);
  });

  it.concurrent("ends a fork bomb as a whole, and nobody else", async () => {
    await using node = await suite.startNode({
      name: "bombed",
      pods: { bomb: { requestMib: 10 }, bystander: { requestMib: 300 } },
    });
    await node.hog("bystander", { upToMib: 250, mibPerSecond: 100 });
    const isTaken = async () => (await node.availableMib()) < 250;
    await node.waitUntil("the bystander has its memory", isTaken, 60_000);
    await node.guest.run(`echo ${MAX_PROCESSES} >${cgroupOf(node.pod("bomb"))}/pids.max`);
    await node.runIn("bomb", `sh ${FORK_BOMB_FILE}`);
    const strike = await node.waitForLog("strike");
    expect(strike).toMatchObject({ mode: "userspace", rule: "A", pod: "default/bombed-bomb" });
    expect(strike.processCount).toBeGreaterThan(40);
    expect(strike.processCount).toBeLessThan(MAX_PROCESSES);
    await node.waitForLog("strike took effect");
    // None of them was quick enough to go on.
    expect(await node.processesOf("bomb")).toBe(0);
    await pause(20_000);
    expect(await node.processesOf("bomb")).toBe(0);
    expect(node.log().filter(({ message }) => message === "strike")).toHaveLength(1);
    expect(await node.processesOf("bystander")).toBeGreaterThan(0);
    expect(await node.kernelKills()).toBe(0);
  });

  it.concurrent("takes a Guaranteed pod that leaks rather than a large service of the system", async () => {
    await using node = await suite.startNode({
      name: "guaranteed",
      pods: { leaker: { requestMib: 1_000, isGuaranteed: true } },
    });
    await node.hog(undefined, { upToMib: 150, mibPerSecond: 100 });
    await node.hog("leaker", { ...LEAK, oomScoreAdj: -997 });
    expect(await node.waitForLog("strike")).toMatchObject({ rule: "A", pod: "default/guaranteed-leaker" });
    await node.waitForLog("strike took effect");
    expect(await node.processesOf("leaker")).toBe(0);
    expect(await node.kernelKills()).toBe(0);
    expect((await node.guest.run("pgrep -f 'hog.cjs 150'")).output).toMatch(/\d/);
  });

  it.concurrent("case 52: goes by rule A, and says so, where the kernel gives no pressure", async () => {
    await using node = await suite.startNode({
      name: "blind",
      pods: { leaker: { requestMib: 50 } },
      kernelArguments: ["psi=0"],
    });
    expect(await node.metrics()).toMatch(/^early_oom_psi_unavailable 1$/m);
    await node.hog("leaker", LEAK);
    const strike = { mode: "userspace", rule: "A", pod: "default/blind-leaker" };
    expect(await node.waitForLog("strike")).toMatchObject(strike);
    await node.waitForLog("strike took effect");
    expect(await node.kernelKills()).toBe(0);
    expect(await node.metrics()).toMatch(/^early_oom_kills_total\{mode="userspace"\} 1$/m);
  });

  it.concurrent("case 57: never ends itself where only its own pod is large, and asks the kernel", async () => {
    await using node = await suite.startNode({ name: "own", pods: { small: { requestMib: 50 } } });
    const leak = `echo $$ >${cgroupOf(node.ownPod)}/cgroup.procs; ${hogCommand(LEAK)}`;
    await node.guest.run(`sh -c '${leak}' </dev/null >/dev/null 2>&1 &`);
    const strike = await node.waitForLog("strike");
    expect(strike).toMatchObject({ mode: "kernel", rule: "A" });
    await node.waitForLog("strike took effect");
    // The agent is the one that still answers.
    expect(await node.metrics()).toMatch(/^early_oom_kills_total\{mode="kernel"\} 1$/m);
    expect(await node.kernelKills()).toBeGreaterThan(0);
  });

  it.concurrent("only says whom it would kill in a dry run", async () => {
    await using node = await suite.startNode({
      name: "dry",
      pods: { leaker: { requestMib: 50 } },
      agentArguments: "--dry-run",
    });
    await node.hog("leaker", LEAK);
    expect(await node.waitForLog("strike left out in dry run")).toMatchObject({ rule: "A", pod: "default/dry-leaker" });
    // Nobody else ends the leak, so the kernel does.
    await node.guest.waitForLine(KERNEL_KILLS);
    expect(node.log().map(({ message }) => message)).not.toContain("strike");
  });

  it.concurrent("in mode kernel asks the kernel, and tells whom it took", async () => {
    await using node = await suite.startNode({
      name: "asks",
      pods: { leaker: { requestMib: 50 } },
      settings: { EARLY_OOM_MODE: "kernel" },
    });
    await node.hog("leaker", LEAK);
    expect(await node.waitForLog("strike")).toMatchObject({ mode: "kernel", rule: "A" });
    expect(String((await node.waitForLog("strike took effect")).because)).toContain("asks-leaker");
    expect(await node.kernelKills()).toBeGreaterThan(0);
  });
});

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
