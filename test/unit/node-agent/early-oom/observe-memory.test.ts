/** What early-oom sees of the node's memory: written figures, and this machine's own. */
import { existsSync, writeFileSync } from "node:fs";
import { getSystemErrorName } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { openMemoryProbe, unavailableBy } from "../../../../node-agent/early-oom/observe/memory.ts";
import { createKernelText, readIfThere } from "../../../../node-agent/early-oom/observe/read-numbers.ts";
import { aFolder, type Files, meminfo, pressure, writeFiles } from "./fixtures/trees.ts";

function probe(files: Files) {
  const procRoot = aFolder();
  writeFiles(procRoot, files);
  const opened = openMemoryProbe(procRoot, () => 42);
  onTestFinished(() => opened.close());
  return { procRoot, opened };
}

describe("a look at memory", () => {
  it("tells total, available and pressure, and the time of the look", () => {
    const { opened } = probe({ meminfo: meminfo(4_000_000, 123_456), "pressure/memory": pressure(111, "30.07", 99) });
    expect(opened.look()).toEqual({
      atMs: 42,
      totalKib: 4_000_000,
      availableKib: 123_456,
      pressure: { kind: "measured", someTotalUs: 111, fullTotalUs: 99, fullAvg10: 30.07 },
    });
  });

  it("sees new figures in files that were opened once, shorter ones too", () => {
    const { procRoot, opened } = probe({
      meminfo: meminfo(9_999, 8_888),
      "pressure/memory": pressure(1e15, "100.00", 1e14),
    });
    expect(opened.look()).toMatchObject({ pressure: { someTotalUs: 1e15, fullTotalUs: 1e14, fullAvg10: 100 } });
    writeFileSync(`${procRoot}/meminfo`, meminfo(9_999, 7));
    writeFileSync(`${procRoot}/pressure/memory`, pressure(1, "0.00", 2));
    expect(opened.look()).toMatchObject({
      availableKib: 7,
      pressure: { someTotalUs: 1, fullTotalUs: 2, fullAvg10: 0 },
    });
  });

  it("case 52: without a pressure file the look goes on and says that it is absent", () => {
    const { opened } = probe({ meminfo: meminfo(4_000, 3_000) });
    const absent = { kind: "unavailable", why: "absent" };
    expect(opened.look()).toMatchObject({ availableKib: 3_000, pressure: absent });
    expect(opened.look()).toMatchObject({ availableKib: 3_000, pressure: absent });
  });

  it("case 52: pressure that was turned off at boot is said to be off", () => {
    const EOPNOTSUPP = 95;
    const refused = Object.assign(new Error("refused"), { code: getSystemErrorName(-EOPNOTSUPP) });
    expect(unavailableBy(refused)).toMatchObject({ why: "off" });
  });

  it.each([
    ["an unknown form", "some total=1\n"],
    ["nothing", ""],
    ["a line that isn't whole", "some avg10=0.00 total=1\nfull avg10="],
  ])("pressure in %s is unreadable, and the look goes on", (_, text) => {
    const { opened } = probe({ meminfo: meminfo(4_000, 3_000), "pressure/memory": text });
    expect(opened.look()).toMatchObject({ availableKib: 3_000, pressure: { kind: "unavailable", why: "unreadable" } });
  });

  it("without MemAvailable there is no look", () => {
    const { opened } = probe({ meminfo: "MemTotal: 4000 kB\nMemFree: 1 kB\n" });
    expect(() => opened.look()).toThrow("reading meminfo");
  });

  it("without meminfo there is no agent", () => {
    expect(() => openMemoryProbe(aFolder(), () => 0)).toThrow("meminfo");
  });
});

describe.runIf(existsSync("/proc/meminfo"))("on this machine", () => {
  it("a thousand looks at the kernel's own files give plausible figures", () => {
    const opened = openMemoryProbe("/proc", () => performance.now());
    onTestFinished(() => opened.close());
    for (let n = 0; n < 1000; n += 1) opened.look();
    const { totalKib, availableKib, pressure: seen } = opened.look();
    expect(totalKib).toBeGreaterThan(64 * 1024);
    expect(availableKib).toBeGreaterThan(0);
    expect(availableKib).toBeLessThanOrEqual(totalKib);
    expect(seen).toMatchObject(
      existsSync("/proc/pressure/memory") ? { kind: expect.stringMatching(/measured|unavailable/) } : { why: "absent" },
    );
  });

  it.runIf(existsSync("/proc/self/smaps"))("a list is read beyond the page that the kernel gives at a time", () => {
    const text = createKernelText();
    expect(readIfThere("/proc/self/smaps", text)).toBe(true);
    expect(text.length).toBe(text.buffer.length);
  });
});
