import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { NOTES_DIRECTORY, noteFileName } from "../../../src/core/ledger/note-file.ts";
import { RECORD_VERSION, type UsageRecord } from "../../../src/core/ledger/record.ts";
import { ledgerScratchDirectory, mountDisk, startLedger, TODAY } from "../../helpers/ledger/ledger.ts";
import { DEAD_OWNER, noteNames, notesIn, orphanNotes } from "../../helpers/ledger/notes.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { fillDisk, ledgerDirectoryOn, PAGE_BYTES } from "../../faults/disk-faults.ts";
import { makeVictim, PLANTED_FILES } from "../../faults/planted-files.ts";
import { readRecord } from "../../helpers/ledger/read-record.ts";

function noteOf(id: string, changes: Partial<UsageRecord> = {}): UsageRecord {
  return usageRecord({ id, outcome: "cut", cut_by: "crash", usage: "absent", tokens: null, ...changes });
}

/** Leaves these notes in a ledger's directory as a crash does. Returns the directory. */
function crashWith(t: TestContext, notes: UsageRecord[]): string {
  const { ledger, directory } = startLedger(t);
  for (const note of notes) assert.equal(ledger.note([note]), true);
  orphanNotes(directory);
  return directory;
}

/** Puts a file among the notes. Returns its path. */
function plantNote(directory: string, name: string, text: string): string {
  const path = join(directory, NOTES_DIRECTORY, name);
  fs.mkdirSync(join(directory, NOTES_DIRECTORY), { recursive: true, mode: 0o700 });
  fs.writeFileSync(path, text, { mode: 0o600 });
  return path;
}

const nameOf = (name: string) => noteFileName({ name, owner: DEAD_OWNER });
const parseLines = (text: string) =>
  text.split("\n").flatMap((line) => (line === "" ? [] : [readRecord(line)]));

test("after a crash each note becomes a record in its day's file, oldest first, and is gone", (t) => {
  const late = noteOf("late", { ts: `${TODAY}T12:00:01.000Z` });
  const early = noteOf("early", { ts: `${TODAY}T12:00:00.000Z` });
  const yesterday = noteOf("yesterday", { ts: "2026-11-20T23:59:59.999Z" });
  const directory = crashWith(t, [late, early, yesterday]);
  const { read, log, ledger } = startLedger(t, { directory });
  assert.deepEqual(parseLines(read(`${TODAY}.ndjson`)), [early, late]);
  assert.deepEqual(parseLines(read("2026-11-20.ndjson")), [yesterday]);
  assert.deepEqual([noteNames(directory), ledger.health().written], [[], 3]);
  assert.equal(log.lines.length, 1);
  assert.match(log.lines[0] ?? "", /^warn recorded the requests that a crash interrupted .*"requests":3/);
});

test("a note whose record was written before the crash is only removed", (t) => {
  const { ledger, directory, ids } = startLedger(t);
  ledger.note([noteOf("a")]);
  const copy = [...notesIn(directory).values()];
  ledger.append([usageRecord({ id: "a" })]);
  ledger.append([usageRecord({ id: "b" })]);
  plantNote(directory, nameOf("a"), `${JSON.stringify(copy[0])}\n`);
  const { log } = startLedger(t, { directory });
  assert.deepEqual([ids(), noteNames(directory), log.lines], [["a", "b"], [], []]);
});

test("a record that the disk does not take at the start waits, and keeps its note until it is written", (t) => {
  const directory = ledgerDirectoryOn(mountDisk(t, 16 * PAGE_BYTES));
  if (directory === null) return;
  const ballast = join(directory, "..", "ballast");
  const first = startLedger(t, { directory });
  first.ledger.note([noteOf("a")]);
  orphanNotes(directory);
  fillDisk(ballast);
  for (let starts = 1; starts <= 2; starts += 1) {
    const { ledger } = startLedger(t, { directory });
    assert.equal(ledger.health().waiting, 1);
    assert.deepEqual([...notesIn(directory).keys()], ["a"]);
    orphanNotes(directory);
  }
  fs.rmSync(ballast);
  const { ids } = startLedger(t, { directory });
  assert.deepEqual([ids(), noteNames(directory)], [["a"], []]);
});

const TORN: [what: string, text: string][] = [
  ["cut off", JSON.stringify(noteOf("a")).slice(0, 40)],
  ["whole but for its newline", JSON.stringify(noteOf("a"))],
  ["empty", ""],
  ["of a day that is none", `${JSON.stringify(noteOf("a", { ts: "../../../x" }))}\n`],
];

for (const [what, text] of TORN) {
  test(`a note that is ${what} is set aside with a warning, and the others become records`, (t) => {
    const directory = crashWith(t, [noteOf("good")]);
    plantNote(directory, nameOf("a"), text);
    const { read, ids, log } = startLedger(t, { directory });
    assert.deepEqual([ids(), noteNames(directory)], [["good"], []]);
    assert.equal(read(`${TODAY}.torn`), `${text}\n`);
    assert.match(log.lines[0] ?? "", /^warn a truncated note of a running request was set aside /);
  });
}

test("a file of added notes that a crash left is read like others, and one without notes says nothing", (t) => {
  const { ledger, directory } = startLedger(t);
  for (const id of ["a", "b"]) ledger.noteUnsent(noteOf(id));
  ledger.append([usageRecord({ id: "a" })]);
  orphanNotes(directory);
  const next = startLedger(t, { directory });
  assert.deepEqual([next.ids(), noteNames(directory)], [["a", "b"], []]);
  next.ledger.noteUnsent(noteOf("c"));
  next.ledger.append([usageRecord({ id: "c" })]);
  orphanNotes(directory);
  const { ids, log } = startLedger(t, { directory });
  assert.deepEqual([ids(), noteNames(directory), log.lines], [["a", "b", "c"], [], []]);
});

test("of the notes that were written together, those become records that are whole and not yet records", (t) => {
  const { ledger, directory, ids } = startLedger(t);
  ledger.note([noteOf("a"), noteOf("b"), noteOf("c")]);
  ledger.append([usageRecord({ id: "b" })]);
  const [name = ""] = noteNames(directory);
  fs.appendFileSync(join(directory, NOTES_DIRECTORY, name), '{"v":2,"id":"d"');
  orphanNotes(directory);
  const { read } = startLedger(t, { directory });
  assert.deepEqual([ids(), noteNames(directory)], [["b", "a", "c"], []]);
  assert.equal(read(`${TODAY}.torn`), '{"v":2,"id":"d"\n');
});

test("of several notes of one record the last becomes the record", (t) => {
  const directory = crashWith(t, [noteOf("other")]);
  for (const [name, ms] of Object.entries({ x: 2_000, y: 61_000, z: 1_000 }))
    plantNote(directory, nameOf(name), `${JSON.stringify(noteOf("a", { duration_ms: ms }))}\n`);
  const { read } = startLedger(t, { directory });
  const records = parseLines(read(`${TODAY}.ndjson`)).filter(({ id }) => id === "a");
  assert.deepEqual(
    records.map(({ duration_ms }) => duration_ms),
    [61_000],
  );
  assert.deepEqual(noteNames(directory), []);
});

test("a note that was not finished is removed, and one of a later release and foreign files stay", (t) => {
  const directory = crashWith(t, []);
  plantNote(directory, `${nameOf("a")}.new`, `${JSON.stringify(noteOf("a"))}\n`);
  plantNote(directory, nameOf("later"), `${JSON.stringify({ ...noteOf("later"), v: RECORD_VERSION + 1 })}\n`);
  plantNote(directory, "notes.txt", "milk");
  const { log } = startLedger(t, { directory });
  const [later = "", foreign, ...rest] = noteNames(directory);
  assert.deepEqual([later.split(".")[0], foreign, rest, log.lines], ["later", "notes.txt", [], []]);
  assert.deepEqual(fs.readdirSync(directory), [NOTES_DIRECTORY]);
});

for (const { what, plant, reason, hint, needsRoot } of PLANTED_FILES) {
  const skip =
    needsRoot === true && process.geteuid?.() !== 0 && "needs root, to give a file to another user";
  test(`${what} in place of a note is not read or changed, and is reported with a hint`, { skip }, (t) => {
    const victim = makeVictim(t);
    const directory = crashWith(t, [noteOf("good")]);
    plant(join(directory, NOTES_DIRECTORY, nameOf("a")), victim.path);
    const { ids, log } = startLedger(t, { directory });
    victim.assertUntouched();
    assert.deepEqual(ids(), ["good"]);
    assert.match(log.lines[0] ?? "", /^warn a note of a running request cannot be used /);
    const facts = log.facts[0] as { reason: string; hint: string };
    assert.match(facts.reason, reason);
    assert.match(facts.hint, hint);
  });
}

const PLANTED_DIRECTORIES: [what: string, plant: (path: string, elsewhere: string) => void, hint: RegExp][] =
  [
    ["a link", (path, elsewhere) => fs.symlinkSync(elsewhere, path), /^mv '.*\/under-way' '.*\.away'$/],
    ["a file", (path) => fs.writeFileSync(path, ""), /^mv '.*\/under-way' '.*\.away'$/],
    [
      "a directory that others can write to",
      (path) => {
        fs.mkdirSync(path);
        fs.chmodSync(path, 0o777);
      },
      /^chmod 700 '.*\/under-way'$/,
    ],
  ];

for (const [what, plant, hint] of PLANTED_DIRECTORIES) {
  test(`with ${what} in place of the notes the ledger opens and takes records; nothing is noted, and the log has a hint`, (t) => {
    const elsewhere = ledgerScratchDirectory(t);
    const directory = join(ledgerScratchDirectory(t), "ledger");
    fs.mkdirSync(directory, { mode: 0o700 });
    plant(join(directory, NOTES_DIRECTORY), elsewhere);
    const { ledger, log, ids } = startLedger(t, { directory });
    assert.equal(ledger.note([noteOf("a")]), false);
    ledger.append([usageRecord({ id: "a" })]);
    assert.deepEqual([ids(), fs.readdirSync(elsewhere)], [["a"], []]);
    assert.match(log.lines[0] ?? "", /^warn the notes cannot be read; requests that a crash/);
    assert.match(log.lines[1] ?? "", /^warn running requests cannot be noted/);
    for (const facts of log.facts) assert.match((facts as { hint: string }).hint, hint);
  });
}

test("notes that a crash left in the directory that the ledger moves to become records there", (t) => {
  const other = crashWith(t, [noteOf("left")]);
  const { ledger } = startLedger(t);
  ledger.note([noteOf("running")]);
  ledger.moveTo({ directory: other, retainDays: 400 });
  assert.deepEqual([...notesIn(other).keys()], ["running"]);
  const records = parseLines(fs.readFileSync(join(other, `${TODAY}.ndjson`), "utf8"));
  assert.deepEqual(
    records.map(({ id }) => id),
    ["left"],
  );
});
