import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openLedger } from "../../../src/adapters/ledger-file.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import type { MovableLedger } from "../../../src/ports.ts";
import { startGate, type TestGate } from "../gate/gate.ts";
import { MemoryLog, StillClock } from "../gate/memory.ts";

/** The day of the still clock and of `usageRecord`. */
export const TODAY = "2026-11-21";

const endings = new WeakMap<TestContext, (() => void)[]>();

/** Like `t.after`, but last come, first served: a file is closed before its disk is taken away. */
export function atEnd(t: TestContext, ending: () => void): void {
  const known = endings.get(t) ?? [];
  if (known.length === 0) {
    endings.set(t, known);
    t.after(() => known.toReversed().forEach((end) => end()));
  }
  known.push(ending);
}

/** A directory of the test's own, gone with it. */
export function scratchDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "ledger-test-"));
  atEnd(t, () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A ledger over real files, under a clock that stands still. */
export interface TestLedger {
  ledger: MovableLedger;
  directory: string;
  clock: StillClock;
  log: MemoryLog;
  /** The whole text of a file of the ledger. */
  read(file: string): string;
  /** Ids of the records in a day's file, every one of whose lines must be whole. */
  ids(day?: string): string[];
}

/** Opens a ledger in `directory`, by default one that is still to be made; closed with the test. */
export function startLedger(
  t: TestContext,
  options: { directory?: string; retainDays?: number } = {},
): TestLedger {
  const { directory = join(scratchDirectory(t), "ledger"), retainDays = 400 } = options;
  const clock = new StillClock();
  const log = new MemoryLog();
  const ledger = openLedger({ directory, retainDays, clock, log });
  atEnd(t, () => ledger.close());
  const read = (file: string) => readFileSync(join(directory, file), "utf8");
  return {
    ledger,
    directory,
    clock,
    log,
    read,
    ids: (day = TODAY) => linesIn(read(`${day}.ndjson`)).map((line) => (JSON.parse(line) as UsageRecord).id),
  };
}

/** A gate in front of `baseUrl` whose records go to {@link startLedger}'s files; one clock for both. */
export async function startLedgerGate(
  t: TestContext,
  baseUrl: string,
  options: { directory?: string } = {},
): Promise<TestLedger & { gate: TestGate }> {
  const started = startLedger(t, options);
  const gate = await startGate(t, baseUrl, { clock: started.clock, recordsTo: started.ledger });
  return { ...started, gate };
}

/** Lines of a text that must end in a newline, or be empty. */
function linesIn(text: string): string[] {
  const lines = text.split("\n");
  if (lines.pop() !== "") throw new Error("the last line is not whole");
  return lines;
}

/**
 * A file system of so many bytes, a page being 4096: a disk that can really be full. null, with the test skipped and the
 * reason said, where file systems cannot be mounted.
 */
export function mountDisk(t: TestContext, bytes: number): string | null {
  const directory = join(scratchDirectory(t), "disk");
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
  atEnd(t, () => execFileSync("umount", [directory]));
  return directory;
}

/** Changes the disk of {@link mountDisk}: read-only or not, of another size, or with room for so many files only. */
export function remountDisk(
  directory: string,
  option: "ro" | "rw" | `nr_inodes=${number}` | `size=${string}`,
): void {
  execFileSync("mount", ["-o", `remount,${option}`, directory]);
}
