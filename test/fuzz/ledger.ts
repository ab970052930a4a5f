import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { openLedger } from "../../src/adapters/ledger-file.ts";
import { readLedger, type UnreadableLine } from "../../src/adapters/ledger-file/reader.ts";
import { boundRecord } from "../../src/core/ledger/bound-record.ts";
import { dayFileName, dayOf } from "../../src/core/ledger/day.ts";
import { parseRecord } from "../../src/core/ledger/parse-record.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { MemoryLog, StillClock } from "../helpers/gate/memory.ts";
import { usageRecord } from "../helpers/ledger/usage-record.ts";
import { damages, inflict } from "./damage.ts";
import { property, type Property } from "./property.ts";
import { anyRecord } from "./records.ts";
import { inScratch } from "./scratch.ts";
import { soup } from "./soup.ts";

const ALL = { from: "0000-01-01" };
const DAY = "2026-11-21";
const NEWLINE = "\n";

async function readAll(directory: string): Promise<(UsageRecord | UnreadableLine)[]> {
  const read: (UsageRecord | UnreadableLine)[] = [];
  for await (const found of readLedger(directory, ALL)) read.push(found);
  return read;
}

/** Appends the records to a new ledger; gives what its files then say. */
function writeAndRead(records: readonly UsageRecord[]): Promise<(UsageRecord | UnreadableLine)[]> {
  return inScratch(async (parent) => {
    const directory = join(parent, "ledger");
    const log = new MemoryLog();
    const ledger = openLedger({ directory, retainDays: 36_500, clock: new StillClock(), log });
    for (const record of records) ledger.append(record);
    ledger.close();
    assert.deepEqual(log.lines, []);
    return readAll(directory);
  });
}

/** A line without its end: a record, one that is damaged, one of the future, or anything. */
const line: fc.Arbitrary<Buffer> = fc
  .oneof(
    fc.tuple(anyRecord, damages).map(([record, damage]) => {
      const text = Buffer.from(JSON.stringify(record));
      return inflict(text, damage, text);
    }),
    anyRecord.map((record) => Buffer.from(JSON.stringify({ ...record, v: 2 }))),
    fc.json().map((text) => Buffer.from(text)),
    soup,
  )
  .map((bytes) => bytes.filter((byte) => byte !== NEWLINE.charCodeAt(0)))
  .map((bytes) => Buffer.from(bytes));

/** Counts that a report may add up. */
function assertSummable({ tokens, extra }: UsageRecord): void {
  for (const set of [...extra, ...(tokens === null ? [] : [tokens])]) {
    for (const name of ["input_uncached", "cache_read", "cache_write", "output"] as const) {
      assert.ok(Number.isSafeInteger(set[name]) && set[name] >= 0, `${name} ${set[name]}`);
    }
  }
}

const FOUND: [UsageRecord[]][] = [
  // Half a surrogate pair became the replacement character on its way to the file.
  [[usageRecord({ stop: "\ud800" })]],
];

export const LEDGER: readonly Property[] = [
  property(
    "ledger: records are read back as they were written, bounded, day by day, whatever is in them",
    { batch: 60, found: FOUND },
    fc.asyncProperty(fc.array(anyRecord, { maxLength: 8 }), async (records) => {
      const days = records.map(({ ts }) => dayOf(ts));
      const expected = [...new Set(days)].sort().flatMap((day) => records.filter((_, i) => days[i] === day));
      assert.deepEqual(await writeAndRead(records), expected.map(boundRecord));
    }),
  ),
  property(
    "ledger: every line of any file is a record that adds up, one of a later format, or told as unreadable",
    { batch: 60 },
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.boolean(), async (lines, isTorn) => {
      const text = Buffer.concat(lines.flatMap((bytes) => [bytes, Buffer.from(NEWLINE)]));
      const torn = isTorn && lines.length > 0;
      const read = await inScratch(async (directory) => {
        await writeFile(join(directory, dayFileName(DAY)), torn ? text.subarray(0, -1) : text);
        return readAll(directory);
      });
      const verdicts = lines.map((bytes) => parseRecord(bytes.toString()));
      if (torn && lines.at(-1)?.length !== 0) verdicts.splice(-1, 1, "unreadable");
      else if (torn) verdicts.pop();
      const expected = verdicts.flatMap((verdict, i): (UsageRecord | UnreadableLine)[] => {
        if (verdict === "unknown_version") return [];
        return verdict === "unreadable"
          ? [{ unreadable: true, file: dayFileName(DAY), line: i + 1 }]
          : [verdict];
      });
      assert.deepEqual(read, expected);
      for (const found of read) if (!("unreadable" in found)) assertSummable(found);
    }),
  ),
];
