import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { readCheckpoint, readLedgerAfter, saveCheckpoint } from "../../src/adapters/ledger-file.ts";
import { compressDay } from "../../src/adapters/ledger-file/closed-days/compress-day.ts";
import { endTornLine } from "../../src/adapters/ledger-file/torn-line.ts";
import type { LedgerCursor } from "../../src/core/ledger/after/cursor.ts";
import { dayFileName } from "../../src/core/ledger/day.ts";
import { formatRecord } from "../../src/core/ledger/format-record.ts";
import { usageRecord } from "../helpers/ledger/usage-record.ts";
import { property, type Property } from "./property.ts";
import { withScratchDirectory } from "./scratch.ts";

const DAYS = ["2026-11-19", "2026-11-20", "2026-11-21"] as const;

/** What can happen to a ledger and to a program that follows it. */
type Step =
  | { do: "append"; day: string; count: number; padding: number }
  | { do: "tear" | "repair" | "compress" | "crash in compressing" | "delete"; day: string }
  | { do: "read"; blocks: number; isKept: boolean };

const day = fc.constantFrom(...DAYS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      day,
      count: fc.integer({ min: 1, max: 6 }),
      padding: fc.constantFrom(0, 0, 300_000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "tear" as const,
        "repair",
        "compress",
        "compress",
        "crash in compressing",
        "delete",
      ),
      day,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("read" as const),
      blocks: fc.integer({ min: 0, max: 4 }),
      isKept: fc.boolean(),
    }),
  },
);

/** A ledger, and the ids of the records that are in its files. */
class WrittenLedger {
  readonly directory: string;
  readonly written = new Map<string, string[]>();
  #count = 0;
  /** Seconds since 1970. */
  #time = 1_795_000_000;

  constructor(directory: string) {
    this.directory = directory;
  }

  append(of: string, count: number, padding: number): void {
    this.repair(of);
    for (let each = 0; each < count; each += 1) {
      // No two files are of the same length: by that a file is told from one that was read and deleted.
      this.#count += 1;
      const text = "x".repeat(padding + this.#count);
      const record = usageRecord({ ts: `${of}T12:00:00.000Z`, raw_usage: { text } });
      fs.appendFileSync(this.#open(of), `${formatRecord(record)}\n`, { mode: 0o600 });
      this.written.set(of, [...(this.written.get(of) ?? []), record.id]);
    }
    // The system's clock for files goes in steps of 4 ms, within which a day is neither closed nor appended to again.
    this.#time += 1;
    fs.utimesSync(this.#open(of), this.#time, this.#time);
  }

  tear(of: string): void {
    fs.appendFileSync(this.#open(of), '{"v":2,"id":"', { mode: 0o600 });
  }

  /** As a daemon does before it appends. */
  repair(of: string): void {
    if (!fs.existsSync(this.#open(of))) return;
    const fd = fs.openSync(this.#open(of), "a+");
    endTornLine(fd);
    fs.closeSync(fd);
  }

  async compress(of: string, isCut: boolean): Promise<void> {
    const path = this.#open(of);
    if (!fs.existsSync(path)) return;
    const [content, { atime, mtime }] = [fs.readFileSync(path), fs.statSync(path)];
    await compressDay(this.directory, of);
    if (!isCut || fs.existsSync(path)) return;
    // The compressed file was complete, and the other one not yet deleted.
    fs.writeFileSync(path, content, { mode: 0o600 });
    fs.utimesSync(path, atime, new Date(Math.round(mtime.getTime())));
    await compressDay(this.directory, of);
  }

  delete(of: string): void {
    for (const name of [dayFileName(of), `${dayFileName(of)}.gz`])
      fs.rmSync(join(this.directory, name), { force: true });
    this.written.delete(of);
  }

  #open(of: string): string {
    return join(this.directory, dayFileName(of));
  }
}

function parseIds(value: unknown): string[] | null {
  return Array.isArray(value) ? (value as string[]) : null;
}

/** A program that follows a ledger, and loses what it read since its last checkpoint whenever it is killed. */
class Follower {
  readonly #ledger: WrittenLedger;
  readonly #path: string;

  constructor(ledger: WrittenLedger) {
    this.#ledger = ledger;
    this.#path = join(ledger.directory, "checkpoint.json");
  }

  get kept(): { cursor: LedgerCursor; state: string[] } {
    return readCheckpoint(this.#path, parseIds) ?? { cursor: { days: {}, since: null }, state: [] };
  }

  async read(blocks: number, isKept: boolean): Promise<void> {
    let { cursor, state } = this.kept;
    let count = 0;
    for await (const batch of readLedgerAfter(this.#ledger.directory, cursor)) {
      if ((count += 1) > blocks) break;
      assert.equal(batch.unknownVersion + batch.unreadable, 0);
      state = [...state, ...batch.records.map(({ id }) => id)];
      ({ cursor } = batch);
    }
    if (isKept) await saveCheckpoint(this.#path, { cursor, state });
  }
}

async function follow(directory: string, steps: readonly Step[]): Promise<void> {
  const ledger = new WrittenLedger(directory);
  const follower = new Follower(ledger);
  const gone = new Set<string>();
  for (const each of steps) {
    if (each.do === "append") ledger.append(each.day, each.count, each.padding);
    else if (each.do === "read") await follower.read(each.blocks, each.isKept);
    else if (each.do === "tear" || each.do === "repair") ledger[each.do](each.day);
    else if (each.do === "delete") {
      for (const id of ledger.written.get(each.day) ?? []) gone.add(id);
      ledger.delete(each.day);
    } else await ledger.compress(each.day, each.do === "crash in compressing");
  }
  await follower.read(Infinity, true);
  const delivered = follower.kept.state;
  assert.equal(new Set(delivered).size, delivered.length, "a record was delivered twice");
  const left = [...ledger.written.values()].flat();
  assert.deepEqual(delivered.filter((id) => !gone.has(id)).sort(), left.sort());
}

/** Properties of reading on after a cursor. */
export const LEDGER_AFTER: readonly Property[] = [
  property(
    "ledger after a cursor: each record is delivered exactly once where checkpoints are kept, whatever became of the files",
    { batch: 40 },
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 24 }), (steps) =>
      withScratchDirectory((directory) => follow(directory, steps)),
    ),
  ),
];
