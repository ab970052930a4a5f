import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { readDayLines } from "../../../src/adapters/ledger-file.ts";
import { Failure } from "../../../src/core/failure.ts";
import { holdTime, passTimeUntil } from "../../helpers/async/hold-time.ts";
import { ledgerScratchDirectory } from "../../helpers/ledger/ledger.ts";

const DAY = "2026-11-21";

async function readAll(directory: string): Promise<(string | null)[]> {
  const lines: (string | null)[] = [];
  for await (const { line, text } of readDayLines(directory, DAY)) assert.equal(lines.push(text), line);
  return lines;
}

function directoryWith(t: TestContext, text: string): { directory: string; path: string } {
  const directory = ledgerScratchDirectory(t);
  const path = join(directory, `${DAY}.ndjson`);
  writeFileSync(path, text);
  return { directory, path };
}

/** Reads the file, and changes it once the reader waits for the end of the last line. */
async function readAround(t: TestContext, text: string, change: (path: string) => void): Promise<unknown[]> {
  const { directory, path } = directoryWith(t, text);
  const pass = holdTime(t);
  const held = globalThis.setTimeout;
  let isChanged = false;
  t.mock.method(globalThis, "setTimeout", (...args: Parameters<typeof held>) => {
    if (!isChanged) change(path);
    isChanged = true;
    return held(...args);
  });
  const read: unknown[] = [];
  const reading = (async () => {
    for await (const line of readDayLines(directory, DAY)) read.push(line);
  })();
  await passTimeUntil(reading, () => pass(20));
  assert.ok(isChanged);
  return read;
}

const file = `${DAY}.ndjson`;
const FIRST = { file, line: 1, text: "first" };

test("yields every line, whatever it is, and none where there is no file", async (t) => {
  const { directory } = directoryWith(t, "{}\n\nnot JSON\n");
  assert.deepEqual(await readAll(directory), ["{}", "", "not JSON"]);
  assert.deepEqual(await readAll(join(directory, "missing")), []);
});

test("a line that is longer than any record has no text, and the next one is read", async (t) => {
  const { directory } = directoryWith(t, `${"x".repeat(9 * 1024 * 1024)}\nnext\n`);
  const lines = [];
  for await (const line of readDayLines(directory, DAY)) lines.push(line);
  assert.deepEqual(lines, [
    { file, line: 1, text: null, fault: "too_long" },
    { file, line: 2, text: "next" },
  ]);
});

test("a last line without an end is torn", async (t) => {
  const read = await readAround(t, "first\nsec", () => {});
  assert.deepEqual(read, [FIRST, { file, line: 2, text: null, fault: "torn" }]);
});

test("a last line that a daemon is just writing is whole", async (t) => {
  const read = await readAround(t, "first\nsec", (path) => appendFileSync(path, "ond\nthird\n"));
  assert.deepEqual(read, [FIRST, { file, line: 2, text: "second" }]);
});

test("a torn line that a daemon moves away is no line", async (t) => {
  const read = await readAround(t, "first\nsec", (path) => truncateSync(path, "first\n".length));
  assert.deepEqual(read, [FIRST]);
});

test("refuses what is not a regular file", async (t) => {
  const directory = ledgerScratchDirectory(t);
  mkdirSync(join(directory, `${DAY}.ndjson`));
  await assert.rejects(readAll(directory), Failure);
});
