import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openLedger, type Closing, type LedgerOptions } from "../../../src/adapters/ledger-file.ts";
import { closeDays, type ClosedDays } from "../../../src/adapters/ledger-file/closed-days.ts";
import { UTC_CALENDAR } from "../../../src/core/ledger/calendar.ts";
import { parseRecord } from "../../../src/core/ledger/parse-record.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import type { MovableLedger } from "../../../src/ports.ts";
import { startGate, type TestGate } from "../gate/gate.ts";
import { MemoryLog, ManualClock } from "../gate/memory.ts";

/** The day of the test clock and of `usageRecord`. */
export const TODAY = "2026-11-21";

const callbacks = new WeakMap<TestContext, (() => void)[]>();

/** Like `t.after`, but in reverse order, so that a file is closed before its disk is unmounted. */
export function afterTest(t: TestContext, callback: () => void): void {
  const known = callbacks.get(t) ?? [];
  if (known.length === 0) {
    callbacks.set(t, known);
    t.after(() => known.toReversed().forEach((call) => call()));
  }
  known.push(callback);
}

/** Creates a directory that is removed after the test, once everything registered later with {@link afterTest} is done. */
export function ledgerScratchDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "ledger-test-"));
  afterTest(t, () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A ledger on real files, with a clock that only advances on demand. */
interface TestLedger {
  ledger: MovableLedger;
  directory: string;
  clock: ManualClock;
  log: MemoryLog;
  /** Returns the content of a file of the ledger. */
  read(file: string): string;
  /** Closes days as of the last time that the ledger noticed a new one. */
  closeDays(): Promise<ClosedDays>;
  /** Returns the ids of the records in a day's file, without torn lines. Throws when its last line is incomplete. */
  ids(day?: string): string[];
}

/** Opens a ledger in `directory`, by default one that does not exist yet. It is closed with the test. */
export function startLedger(
  t: TestContext,
  options: { directory?: string; retainDays?: number } = {},
): TestLedger {
  const { directory = join(ledgerScratchDirectory(t), "ledger"), retainDays = 400 } = options;
  const clock = new ManualClock();
  const log = new MemoryLog();
  let closing: Closing = { directory, retainDays, now: NaN, limits: [] };
  const onNewDay: LedgerOptions["onNewDay"] = (location, now) =>
    void (closing = { ...location, now, limits: [] });
  const ledger = openLedger({ directory, retainDays, clock, log, onNewDay });
  afterTest(t, () => ledger.close());
  const read = (file: string) => readFileSync(join(directory, file), "utf8");
  return {
    ledger,
    directory,
    clock,
    log,
    read,
    closeDays: () => closeDays(closing, UTC_CALENDAR),
    ids: (day = TODAY) => {
      const whole = linesIn(read(`${day}.ndjson`)).filter((line) => parseRecord(line) !== "torn");
      return whole.map((line) => (JSON.parse(line) as UsageRecord).id);
    },
  };
}

/** Starts a gate for `baseUrl` that writes to a ledger of {@link startLedger}, with the same clock. */
export async function startLedgerGate(
  t: TestContext,
  baseUrl: string,
  options: { directory?: string } = {},
): Promise<TestLedger & { gate: TestGate }> {
  const started = startLedger(t, options);
  const gate = await startGate(t, baseUrl, { clock: started.clock, recordsTo: started.ledger });
  return { ...started, gate };
}

/** Returns the lines of a text. Throws when the last one has no newline. */
function linesIn(text: string): string[] {
  const lines = text.split("\n");
  if (lines.pop() !== "") throw new Error("the last line is not whole");
  return lines;
}

/**
 * Mounts a file system of this size, in pages of 4096 bytes, that can really be full. Returns its directory; where that is
 * not permitted, skips the test with a reason and returns null.
 */
export function mountDisk(t: TestContext, bytes: number): string | null {
  const directory = join(ledgerScratchDirectory(t), "disk");
  mkdirSync(directory);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes},mode=700`, "tmpfs", directory], {
      stdio: "pipe",
    });
  } catch (error) {
    t.diagnostic(`SKIPPED: no small file system can be mounted here (needs root on Linux): ${String(error)}`);
    t.skip("needs root on Linux, to mount a small file system");
    return null;
  }
  afterTest(t, () => execFileSync("umount", [directory]));
  return directory;
}

/** Changes the disk of {@link mountDisk}: read-only or writable, its size, or how many files it can have. */
export function remountDisk(
  directory: string,
  option: "ro" | "rw" | `nr_inodes=${number}` | `size=${string}`,
): void {
  execFileSync("mount", ["-o", `remount,${option}`, directory]);
}
