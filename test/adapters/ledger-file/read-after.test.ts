import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import {
  cursorAt,
  cursorAtEnd,
  readCheckpoint,
  readLedgerAfter,
  saveCheckpoint,
} from "../../../src/adapters/ledger-file.ts";
import type { LedgerCursor } from "../../../src/core/ledger/after/cursor.ts";
import { formatRecord } from "../../../src/core/ledger/format-record.ts";
import { RECORD_VERSION } from "../../../src/core/ledger/record.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

const START: LedgerCursor = { days: {}, since: null };
const FIRST = "2026-11-20";
const SECOND = "2026-11-21";

function lineOf(id: string, ts = `${SECOND}T12:00:00.000Z`): string {
  return `${formatRecord(usageRecord({ id, ts }))}\n`;
}

function append(directory: string, day: string, ...lines: string[]): void {
  fs.appendFileSync(join(directory, `${day}.ndjson`), lines.join(""), { mode: 0o600 });
}

async function readOn(directory: string, from: LedgerCursor) {
  const found = { ids: [] as string[], unreadable: 0, unknownVersion: 0, batches: 0, cursor: from };
  for await (const batch of readLedgerAfter(directory, from)) {
    found.ids.push(...batch.records.map(({ id }) => id));
    found.unreadable += batch.unreadable;
    found.unknownVersion += batch.unknownVersion;
    found.batches += 1;
    found.cursor = batch.cursor;
  }
  return found;
}

/** Asserts that nothing is left after a cursor, and that this is found without reading a day. */
async function assertAtEnd(directory: string, cursor: LedgerCursor): Promise<void> {
  assert.equal((await readOn(directory, cursor)).batches, 0);
}

test("a cursor at the end delivers only what is appended from then on, on any day", async (t) => {
  const directory = scratchDirectory(t);
  const compressed = join(directory, `${FIRST}.ndjson.gz`);
  fs.writeFileSync(compressed, gzipSync(lineOf("a", `${FIRST}T12:00:00.000Z`)));
  // The time of the file that it was made from. An open file with the same time would be taken for that one.
  fs.utimesSync(compressed, 1, 1);
  append(directory, SECOND, lineOf("b"));
  const end = cursorAtEnd(directory);
  await assertAtEnd(directory, end);
  append(directory, SECOND, lineOf("c"));
  append(directory, FIRST, lineOf("late", `${FIRST}T13:00:00.000Z`));
  append(directory, "2026-11-05", lineOf("long ago", "2026-11-05T13:00:00.000Z"));
  assert.deepEqual((await readOn(directory, end)).ids.sort(), ["c", "late", "long ago"]);
});

test("a cursor at a moment delivers the records of requests that arrived then or later", async (t) => {
  const directory = scratchDirectory(t);
  append(directory, FIRST, lineOf("day before", `${FIRST}T23:59:59.999Z`));
  append(
    directory,
    SECOND,
    lineOf("before", `${SECOND}T08:59:59.999Z`),
    lineOf("then", `${SECOND}T09:00:00.000Z`),
  );
  const cursor = cursorAt(directory, Date.parse(`${SECOND}T09:00:00.000Z`));
  assert.deepEqual((await readOn(directory, cursor)).ids, ["then"]);
});

test("a last line without its end is delivered once it has one, and never if a daemon sets it aside", async (t) => {
  const directory = scratchDirectory(t);
  const [whole, half] = [lineOf("whole"), lineOf("half")];
  append(directory, SECOND, whole, half.slice(0, 40));
  const first = await readOn(directory, START);
  assert.deepEqual([first.ids, first.unreadable], [["whole"], 0]);
  append(directory, SECOND, half.slice(40));
  const second = await readOn(directory, first.cursor);
  assert.deepEqual(second.ids, ["half"]);
  append(directory, SECOND, "{");
  fs.truncateSync(join(directory, `${SECOND}.ndjson`), whole.length + half.length);
  append(directory, SECOND, lineOf("next"));
  assert.deepEqual((await readOn(directory, second.cursor)).ids, ["next"]);
});

test("lines that are no records and records of a later release are counted and passed over", async (t) => {
  const directory = scratchDirectory(t);
  const later = JSON.stringify({ ...usageRecord(), v: RECORD_VERSION + 1 });
  append(directory, SECOND, "x\n", "y".repeat(1_500_000), "\n", `${later}\n`, lineOf("a"));
  const { ids, unreadable, unknownVersion, cursor } = await readOn(directory, START);
  assert.deepEqual({ ids, unreadable, unknownVersion }, { ids: ["a"], unreadable: 2, unknownVersion: 1 });
  await assertAtEnd(directory, cursor);
});

test("a compressed file that is damaged holds up nothing that comes later", async (t) => {
  const directory = scratchDirectory(t);
  const compressed = gzipSync(lineOf("a", `${FIRST}T12:00:00.000Z`));
  fs.writeFileSync(join(directory, `${FIRST}.ndjson.gz`), compressed.subarray(0, -12));
  append(directory, SECOND, lineOf("b"));
  const { ids, unreadable, cursor } = await readOn(directory, START);
  assert.deepEqual([ids.at(-1), unreadable], ["b", 1]);
  await assertAtEnd(directory, cursor);
});

test("a day that was deleted and written again is read from its start", async (t) => {
  const directory = scratchDirectory(t);
  append(directory, SECOND, lineOf("a"));
  const { cursor } = await readOn(directory, START);
  fs.rmSync(join(directory, `${SECOND}.ndjson`));
  append(directory, SECOND, lineOf("other"), lineOf("another"));
  assert.deepEqual((await readOn(directory, cursor)).ids, ["other", "another"]);
});

test("a day that was written again is read from its start, even if it has as many bytes as before", async (t) => {
  const directory = scratchDirectory(t);
  append(directory, SECOND, lineOf("a"), lineOf("b"));
  const { cursor } = await readOn(directory, START);
  fs.rmSync(join(directory, `${SECOND}.ndjson`));
  append(directory, SECOND, lineOf("c"), lineOf("d"));
  const { ids, cursor: end } = await readOn(directory, cursor);
  assert.deepEqual(ids, ["c", "d"]);
  await assertAtEnd(directory, end);
});

test("a directory that is away for a while is not read again", async (t) => {
  const directory = join(scratchDirectory(t), "ledger");
  fs.mkdirSync(directory);
  append(directory, SECOND, lineOf("a"));
  const { cursor } = await readOn(directory, START);
  fs.renameSync(directory, `${directory}.away`);
  const meanwhile = await readOn(directory, cursor);
  fs.renameSync(`${directory}.away`, directory);
  await assertAtEnd(directory, meanwhile.cursor);
});

function parseNumber(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

test("a checkpoint is private, and one that nobody could have written is none", async (t: TestContext) => {
  const path = join(scratchDirectory(t), "export", "checkpoint.json");
  assert.equal(readCheckpoint(path, parseNumber), null);
  const cursor = { days: { [SECOND]: { compressed: 1, lines: 2, start: 3 } }, since: null };
  fs.mkdirSync(join(path, ".."));
  fs.writeFileSync(`${path}.new`, "left by a crash");
  await saveCheckpoint(path, { cursor, state: 7 });
  assert.deepEqual(readCheckpoint(path, parseNumber), { cursor, state: 7 });
  assert.equal(fs.statSync(path).mode & 0o777, 0o600);
  for (const text of [
    "",
    "{}",
    '{"cursor":{"days":{"x":{}},"since":null},"state":7}',
    '{"cursor":{"days":{},"since":null},"state":""}',
  ]) {
    fs.writeFileSync(path, text);
    assert.equal(readCheckpoint(path, parseNumber), null, text);
  }
});
