import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { NOTES_DIRECTORY } from "../../../src/core/ledger/note-file.ts";
import { ledgerScratchDirectory, mountDisk, startLedger, TODAY } from "../../helpers/ledger/ledger.ts";
import { noteNames, notesIn } from "../../helpers/ledger/notes.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { fillDisk, ledgerDirectoryOn, PAGE_BYTES } from "../../faults/disk-faults.ts";

const mode = (path: string) => fs.statSync(path).mode & 0o777;

test("a record without a note makes no directory of notes", (t) => {
  const { ledger, directory } = startLedger(t);
  ledger.append([usageRecord()]);
  assert.deepEqual(fs.readdirSync(directory), [`${TODAY}.ndjson`]);
});

test("a note is a private file with the record in it, and is gone once the record is in its day's file", (t) => {
  const { ledger, directory, ids } = startLedger(t);
  const note = usageRecord({ id: "a", outcome: "cut", cut_by: "crash" });
  assert.equal(ledger.note([note]), true);
  assert.deepEqual([...notesIn(directory)], [["a", note]]);
  const [name = ""] = noteNames(directory);
  assert.deepEqual(
    [mode(join(directory, NOTES_DIRECTORY)), mode(join(directory, NOTES_DIRECTORY, name))],
    [0o700, 0o600],
  );
  ledger.append([usageRecord({ id: "a" })]);
  assert.deepEqual([noteNames(directory), ids()], [[], ["a"]]);
});

test("notes that are added one by one share a private file, which is empty once all are records, and gone at the end", (t) => {
  const { ledger, directory, ids } = startLedger(t);
  for (const id of ["a", "b"]) assert.equal(ledger.noteUnsent(usageRecord({ id })), true);
  const [name = ""] = noteNames(directory);
  const path = join(directory, NOTES_DIRECTORY, name);
  assert.deepEqual([noteNames(directory).length, mode(path)], [1, 0o600]);
  assert.deepEqual([...notesIn(directory).keys()], ["a", "b"]);
  ledger.append([usageRecord({ id: "a" })]);
  assert.deepEqual([...notesIn(directory).keys()], ["a", "b"], "one is left");
  // A note that is written later replaces the other.
  ledger.note([usageRecord({ id: "b", duration_ms: 5_000 })]);
  assert.equal(fs.statSync(path).size, 0);
  ledger.noteUnsent(usageRecord({ id: "c" }));
  ledger.append(["b", "c"].map((id) => usageRecord({ id })));
  assert.deepEqual([noteNames(directory), fs.statSync(path).size, ids()], [[name], 0, ["a", "b", "c"]]);
  ledger.close();
  assert.deepEqual(noteNames(directory), []);
});

test("a file of added notes does not grow while some are left, and is made again where it was removed", (t) => {
  const { ledger, directory, clock } = startLedger(t);
  for (let count = 0; count < 2_000; count += 1) {
    ledger.noteUnsent(usageRecord({ id: `n${count}` }));
    if (count > 0) ledger.append([usageRecord({ id: `n${count - 1}` })]);
  }
  const sizes = noteNames(directory).map((name) => fs.statSync(join(directory, NOTES_DIRECTORY, name)).size);
  assert.ok(sizes.length === 1 && Number(sizes[0]) < 300_000, sizes.join(" "));
  fs.rmSync(join(directory, NOTES_DIRECTORY), { recursive: true });
  clock.advance(1_000);
  ledger.noteUnsent(usageRecord({ id: "last" }));
  assert.deepEqual([...notesIn(directory).keys()], ["last"]);
});

test("notes that are added follow the ledger to another directory", (t) => {
  const { ledger, directory } = startLedger(t);
  const to = join(ledgerScratchDirectory(t), "other");
  ledger.noteUnsent(usageRecord({ id: "a" }));
  ledger.moveTo({ directory: to, retainDays: 400 });
  ledger.noteUnsent(usageRecord({ id: "b" }));
  assert.deepEqual([noteNames(directory), [...notesIn(to).keys()]], [[], ["a", "b"]]);
});

test("a directory that is opened to readers while the daemon runs costs no note, and the notes stay private", (t) => {
  const { ledger, directory, clock } = startLedger(t);
  ledger.note([usageRecord({ id: "a" })]);
  for (const opened of [directory, join(directory, NOTES_DIRECTORY)]) fs.chmodSync(opened, 0o755);
  clock.advance(1000);
  assert.equal(ledger.note([usageRecord({ id: "b" })]), true);
  for (const name of noteNames(directory)) assert.equal(mode(join(directory, NOTES_DIRECTORY, name)), 0o600);
});

test("a later note of the same record replaces the earlier one, and notes of others stay", (t) => {
  const { ledger, directory } = startLedger(t);
  for (const [id, bytes] of [
    ["a", 1],
    ["b", 2],
    ["a", 3],
  ] as const)
    ledger.note([usageRecord({ id, bytes_out: bytes })]);
  ledger.append([usageRecord({ id: "c" })]);
  const found = [...notesIn(directory).values()].map(({ id, bytes_out }) => [id, bytes_out]);
  assert.deepEqual(found, [
    ["a", 3],
    ["b", 2],
  ]);
});

test("notes that are written together share a file, which stays until the last of them is replaced or a record", (t) => {
  const { ledger, directory } = startLedger(t);
  ledger.note(["a", "b", "c"].map((id) => usageRecord({ id })));
  const [together] = noteNames(directory);
  assert.equal(noteNames(directory).length, 1);
  ledger.append([usageRecord({ id: "b" })]);
  ledger.note([usageRecord({ id: "a", duration_ms: 60_000 })]);
  assert.equal(noteNames(directory).length, 2);
  assert.ok(noteNames(directory).includes(together ?? ""));
  ledger.append([usageRecord({ id: "c" })]);
  assert.deepEqual(
    [...notesIn(directory).values()].map(({ id, duration_ms }) => [id, duration_ms]),
    [["a", 60_000]],
  );
  ledger.append([usageRecord({ id: "a" })]);
  assert.deepEqual(noteNames(directory), []);
});

test("a note of a record that waits for the disk stays until the record is written", (t) => {
  const { ledger, directory, clock, ids } = startLedger(t);
  ledger.note([usageRecord({ id: "a" })]);
  fs.mkdirSync(join(directory, `${TODAY}.ndjson`));
  ledger.append([usageRecord({ id: "a" })]);
  assert.deepEqual([ledger.health().waiting, [...notesIn(directory).keys()]], [1, ["a"]]);
  fs.rmdirSync(join(directory, `${TODAY}.ndjson`));
  clock.advance(1000);
  ledger.append([usageRecord({ id: "b" })]);
  assert.deepEqual([ids(), noteNames(directory)], [["a", "b"], []]);
});

test("on a full disk notes are refused without an error, reported once, and taken again when there is room", (t) => {
  const directory = ledgerDirectoryOn(mountDisk(t, 16 * PAGE_BYTES));
  if (directory === null) return;
  const { ledger, log } = startLedger(t, { directory });
  ledger.note([usageRecord({ id: "first" })]);
  const ballast = join(directory, "..", "ballast");
  fillDisk(ballast);
  for (const id of ["a", "b", "first"]) assert.equal(ledger.note([usageRecord({ id })]), false);
  assert.deepEqual([...notesIn(directory).keys()], ["first"]);
  assert.equal(log.lines.length, 1);
  assert.match(
    log.lines[0] ?? "",
    /^warn running requests cannot be noted; a crash would hide them .*(the disk is full|could be written)/,
  );
  fs.rmSync(ballast);
  assert.equal(ledger.note([usageRecord({ id: "a" })]), true);
  fillDisk(ballast);
  assert.equal(ledger.note([usageRecord({ id: "b" })]), false);
  assert.equal(log.lines.length, 2);
});

test("notes go on after their directory was deleted", (t) => {
  const { ledger, directory, clock } = startLedger(t);
  ledger.note([usageRecord({ id: "a" })]);
  fs.rmSync(directory, { recursive: true });
  assert.equal(ledger.note([usageRecord({ id: "a" })]), false);
  clock.advance(1000);
  assert.equal(ledger.note([usageRecord({ id: "a" })]), true);
  assert.deepEqual([...notesIn(directory).keys()], ["a"]);
  fs.rmSync(join(directory, NOTES_DIRECTORY), { recursive: true });
  ledger.append([usageRecord({ id: "a" })]);
  assert.equal(ledger.health().written, 1);
});

test("notes follow the ledger to another directory, on another disk too", (t) => {
  const elsewhere = mountDisk(t, 64 * PAGE_BYTES) ?? ledgerScratchDirectory(t);
  const { ledger, directory } = startLedger(t);
  const other = join(elsewhere, "other");
  for (const id of ["a", "b"]) ledger.note([usageRecord({ id })]);
  ledger.moveTo({ directory: other, retainDays: 400 });
  assert.deepEqual([noteNames(directory), [...notesIn(other).keys()]], [[], ["a", "b"]]);
  ledger.note([usageRecord({ id: "a", bytes_out: 7 })]);
  assert.equal(notesIn(other).get("a")?.bytes_out, 7);
  for (const id of ["a", "b"]) ledger.append([usageRecord({ id })]);
  assert.deepEqual([noteNames(directory), noteNames(other)], [[], []]);
});

test("a note of many pages is written as it is", (t) => {
  const { ledger, directory } = startLedger(t);
  const notes = Array.from({ length: 1900 }, () => "x".repeat(30));
  ledger.note([usageRecord({ id: "a", raw_usage: { notes } })]);
  assert.deepEqual(notesIn(directory).get("a")?.raw_usage, { notes });
});
