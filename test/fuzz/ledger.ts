import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { openLedger, readLedger, type UnreadableLine } from "../../src/adapters/ledger-file.ts";
import { formatRecord } from "../../src/core/ledger/format-record.ts";
import { truncateRecord } from "../../src/core/ledger/truncate-record.ts";
import { dayFileName, dayOf } from "../../src/core/ledger/day.ts";
import { parseRecord } from "../../src/core/ledger/parse-record.ts";
import { readQuickly } from "../../src/core/ledger/quick-record.ts";
import { RECORD_VERSION, type UsageRecord } from "../../src/core/ledger/record.ts";
import { MemoryLog, ManualClock } from "../helpers/gate/memory.ts";
import { forSums } from "../helpers/ledger/summable.ts";
import { usageRecord } from "../helpers/ledger/usage-record.ts";
import { damages, applyDamage } from "./damage.ts";
import { property, type Property } from "./property.ts";
import { anyRecord } from "./records.ts";
import { withScratchDirectory } from "./scratch.ts";
import { randomBody } from "./random-body.ts";

const ALL = { from: "0000-01-01" };
const DAY = "2026-11-21";
const NEWLINE = "\n";

async function readAll(directory: string): Promise<(UsageRecord | UnreadableLine)[]> {
  const read: (UsageRecord | UnreadableLine)[] = [];
  for await (const found of readLedger(directory, ALL)) read.push(found);
  return read;
}

/** Appends the records to a new ledger and reads its files. */
function writeAndRead(records: readonly UsageRecord[]): Promise<(UsageRecord | UnreadableLine)[]> {
  return withScratchDirectory(async (parent) => {
    const directory = join(parent, "ledger");
    const log = new MemoryLog();
    const ledger = openLedger({
      directory,
      retainDays: 36_500,
      clock: new ManualClock(),
      log,
      onNewDay() {},
    });
    for (const record of records) ledger.append([record]);
    ledger.close();
    assert.deepEqual(log.lines, []);
    return readAll(directory);
  });
}

/** A line without its end: a record, a damaged record, a record of a later version, or anything. */
const line: fc.Arbitrary<Buffer> = fc
  .oneof(
    fc.tuple(anyRecord, damages).map(([record, damage]) => {
      const text = Buffer.from(JSON.stringify(record));
      return applyDamage(text, damage, text);
    }),
    anyRecord.map((record) => Buffer.from(JSON.stringify({ ...record, v: RECORD_VERSION + 1 }))),
    fc.json().map((text) => Buffer.from(text)),
    randomBody,
  )
  .map((bytes) => bytes.filter((byte) => byte !== NEWLINE.charCodeAt(0)))
  .map((bytes) => Buffer.from(bytes));

/** A record as most are. */
const writtenRecord = anyRecord.map((record): UsageRecord => ({ ...record, extra: [], server_tools: {} }));

/** Its line in either version of the format, whole or damaged. */
const writtenLine = fc
  .tuple(writtenRecord, fc.boolean(), fc.option(damages))
  .map(([record, isOld, damage]) => {
    const text = Buffer.from(isOld ? JSON.stringify({ ...record, v: 1 }) : formatRecord(record));
    return damage === null ? text : applyDamage(text, damage, text);
  });

/** Fails unless a report can add the counts up. */
function assertSummable({ tokens, extra }: UsageRecord): void {
  for (const set of [...extra, ...(tokens === null ? [] : [tokens])]) {
    for (const name of ["input_uncached", "cache_read", "cache_write", "output"] as const) {
      assert.ok(Number.isSafeInteger(set[name]) && set[name] >= 0, `${name} ${set[name]}`);
    }
  }
}

const FOUND: [UsageRecord[]][] = [
  // Half a surrogate pair became the replacement character in the file.
  [[usageRecord({ stop: "\ud800" })]],
];

export const LEDGER: readonly Property[] = [
  property(
    "ledger: what sums read of a line, whole or damaged, is what a parser reads",
    { batch: 300 },
    fc.property(fc.oneof(line, writtenLine), (bytes) => {
      const text = bytes.toString("utf8");
      const quick = readQuickly(text);
      if (quick === null) return;
      const parsed = parseRecord(text);
      // Only what is inside of `raw_usage` is not checked.
      if (typeof parsed === "object") assert.deepEqual({ ...quick }, forSums(parsed));
      else assert.ok(text.includes('"raw_usage":{') && quick.raw_usage === null, text);
    }),
  ),
  property(
    "ledger: any records are read back as they were written, truncated and in the order of days",
    { batch: 60, found: FOUND },
    fc.asyncProperty(fc.array(anyRecord, { maxLength: 8 }), async (records) => {
      const days = records.map(({ ts }) => dayOf(ts));
      const expected = [...new Set(days)].sort().flatMap((day) => records.filter((_, i) => days[i] === day));
      assert.deepEqual(await writeAndRead(records), expected.map(truncateRecord));
    }),
  ),
  property(
    "ledger: every line of any file is a valid record, torn, or reported as unreadable",
    { batch: 60 },
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.boolean(), async (lines, isTorn) => {
      const text = Buffer.concat(lines.flatMap((bytes) => [bytes, Buffer.from(NEWLINE)]));
      const torn = isTorn && lines.length > 0;
      const read = await withScratchDirectory(async (directory) => {
        await writeFile(join(directory, dayFileName(DAY)), torn ? text.subarray(0, -1) : text);
        return readAll(directory);
      });
      const verdicts = lines.map((bytes) => parseRecord(bytes.toString()));
      if (torn && verdicts.at(-1) !== "unreadable") verdicts.splice(-1, 1, "torn");
      const expected = verdicts.flatMap((verdict, i): (UsageRecord | UnreadableLine)[] => {
        if (verdict === "torn") return [];
        if (typeof verdict === "object") return [verdict];
        return [{ unreadable: true, file: dayFileName(DAY), line: i + 1 }];
      });
      assert.deepEqual(read, expected);
      for (const found of read) if (!("unreadable" in found)) assertSummable(found);
    }),
  ),
];
