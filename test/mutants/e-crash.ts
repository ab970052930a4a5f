import type { Mutant } from "./mutant.ts";

const E7 = { row: "E7", test: "test/faults/e7-spending-at-a-crash.test.ts" };
const E7_TIME = { row: "E7", test: "test/proxy/exchange/notes.test.ts" };
const E7_FILES = { row: "E7", test: "test/adapters/ledger-file/notes.test.ts" };
const E7_RECOVERY = { row: "E7", test: "test/adapters/ledger-file/recovered-notes.test.ts" };
const E7_INTERRUPTED = { row: "E7", test: "test/adapters/ledger-file/interrupted-recovery.test.ts" };
const E7_PROCESSES = { row: "E7", test: "test/adapters/ledger-file/notes-of-processes.test.ts" };

const RECORDER = "src/proxy/exchange/exchange.ts";
const RUNNING = "src/proxy/exchange/running-exchanges.ts";
const LEDGER = "src/adapters/ledger-file.ts";
const NOTES = "src/adapters/ledger-file/notes.ts";
const CLAIM = "src/adapters/ledger-file/claim-notes.ts";
const IDENTITY = "src/adapters/ledger-file/process-identity.ts";

/** Rules on requests that are under way at a crash: E7. */
export const CRASH: readonly Mutant[] = [
  {
    ...E7,
    without: "noting exchanges that last",
    file: RUNNING,
    find: "this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();",
    replace: "",
  },
  {
    ...E7,
    without: "the usage that was seen",
    file: "src/proxy/exchange/exchange.ts",
    find: "this.#roundTrip?.readSoFar() ?? { reading",
    replace: "{ reading",
  },
  {
    ...E7,
    without: "noting a request that waits for its key",
    file: "src/proxy/exchange/exchange.ts",
    find: "books.running.add(this);\n    if (settings",
    replace: "queueMicrotask(() => this.#roundTrip !== null && books.running.add(this));\n    if (settings",
  },
  {
    ...E7,
    without: "naming the crash in a note",
    file: "src/proxy/exchange/exchange.ts",
    find: 'read.bytesOut, "crash")',
    replace: 'read.bytesOut, "proxy")',
  },
  {
    ...E7,
    without: "redacting the key in a note",
    file: "src/proxy/exchange/download.ts",
    find: "return this.#toRecord(this.#meter.readSoFar());",
    replace: "return { reading: this.#meter.readSoFar(), bytesOut: this.#bytes };",
  },
  {
    ...E7,
    without: "noting what a budget has reserved before it leaves",
    file: "src/proxy/sender.ts",
    find: "exchange.noteReservation();",
    replace: "",
  },
  {
    ...E7_FILES,
    without: "a limit of how long a file of added notes gets",
    file: NOTES,
    find: "this.#open.bytes > ADDED_BYTES",
    replace: "this.#open.bytes > Infinity",
  },
  {
    ...E7,
    without: "making records of notes at the start",
    file: LEDGER,
    find: "recover();\n  const toEntry",
    replace: "const toEntry",
  },
  {
    ...E7,
    without: "moving notes along with the ledger",
    file: LEDGER,
    find: "notes.moveTo(location.directory);",
    replace: "",
  },
  {
    ...E7,
    without: "leaving the notes of running daemons alone",
    file: CLAIM,
    find: "|| isRunning(file.owner, fs.lstatSync(found).mtimeMs)",
    replace: "",
  },
  {
    ...E7_TIME,
    without: "the id of the record in its note",
    file: RECORDER,
    find: "v: RECORD_VERSION,\n      id: this.id,",
    replace: "v: RECORD_VERSION,\n      id: randomUUID(),",
  },
  {
    ...E7_TIME,
    without: "a note before the time is over, when the timer is late",
    file: RECORDER,
    find: "const NOTE_AHEAD_MS = 200;",
    replace: "const NOTE_AHEAD_MS = -100;",
  },
  {
    ...E7_TIME,
    without: "leaving short requests alone",
    file: "src/proxy/exchange/exchange.ts",
    find: "return tick - this.#arrival.tick >= noteAfterMs - NOTE_AHEAD_MS;",
    replace: "return tick - this.#arrival.tick >= NOTE_AHEAD_MS;",
  },
  {
    ...E7_TIME,
    without: "renewing notes",
    file: RECORDER,
    find: "return tick - this.#notedTick >= NOTE_INTERVAL_MS;",
    replace: "return false;",
  },
  {
    ...E7_TIME,
    without: "noting the first content",
    file: RECORDER,
    find: "if (this.hasFirstContent && !this.#isContentNoted) return true;",
    replace: "",
  },
  {
    ...E7_TIME,
    without: "at most one note a minute",
    file: RECORDER,
    find: "const NOTE_INTERVAL_MS = 60_000;",
    replace: "const NOTE_INTERVAL_MS = 50_000;",
  },
  {
    ...E7_TIME,
    without: "one timer for all exchanges",
    file: RUNNING,
    find: "this.#timer ??= setInterval",
    replace: "this.#timer = setInterval",
  },
  {
    ...E7_TIME,
    without: "a pause after a note that was refused",
    file: RUNNING,
    find: "this.#nextNoteAt = now + RETRY_MS;",
    replace: "",
  },
  {
    ...E7_TIME,
    without: "a limit to the renewals in one turn",
    file: RUNNING,
    find: "return !exchange.isNoted || renewals <= MOST_RENEWALS;",
    replace: "return true;",
  },
  {
    ...E7_FILES,
    without: "removing the note of a record that is written",
    file: "src/adapters/ledger-file/line-writer.ts",
    find: "for (const { noteId } of entries.slice(0, written)) if (noteId !== null) this.#notes.remove(noteId);",
    replace: "",
  },
  {
    ...E7_FILES,
    without: "keeping the note of a record that waits for the disk",
    file: LEDGER,
    find: "return { day: dayOf(ts), line: toLine(record), noteId: notes.has(id) ? id : null };",
    replace: "notes.remove(id); return { day: dayOf(ts), line: toLine(record), noteId: null };",
  },
  {
    ...E7_FILES,
    without: "taking a full disk for no reason to fail",
    file: NOTES,
    find: "this.#onFailure(error);\n      return false;\n    }\n    this.#isFailureLogged = false;\n    this.#keep(",
    replace:
      "this.#onFailure(error);\n      throw error;\n    }\n    this.#isFailureLogged = false;\n    this.#keep(",
  },
  {
    ...E7_FILES,
    without: "reporting once that nothing can be noted",
    file: NOTES,
    find: "if (!this.#isFailureLogged) this.#warn",
    replace: "this.#warn",
  },
  {
    ...E7_RECOVERY,
    without: "setting torn notes aside",
    file: CLAIM,
    find: "keepTornNote(bytes, tornFile);",
    replace: "",
  },
  {
    ...E7_RECOVERY,
    without: "requiring a whole line in a note",
    file: CLAIM,
    find: `line.endsWith("\\n") ? parseRecord(line) : "torn"`,
    replace: "parseRecord(line)",
  },
  {
    ...E7_RECOVERY,
    without: "checking the day in a note, which becomes a path",
    file: CLAIM,
    find: "parseLedgerFileName(dayFileName(dayOf(ts))) !== null",
    replace: "dayFileName(parseLedgerFileName(dayOf(ts))?.day ?? dayOf(ts)) !== null",
  },
  {
    ...E7_RECOVERY,
    without: "refusing a link in place of the notes",
    file: "src/adapters/ledger-file/notes-directory.ts",
    find: "found !== undefined && !found.isDirectory()",
    replace: "found === null",
  },
  {
    ...E7_RECOVERY,
    without: "going on after a note that cannot be used",
    file: CLAIM,
    find: `if (!hasCode(error, "ENOENT")) reportNote(join(directory, NOTES_DIRECTORY, name), error, options.log);\n      return [];`,
    replace: "throw error;",
  },
  {
    ...E7_RECOVERY,
    without: "the last of several notes of one record",
    file: CLAIM,
    find: "other === undefined || note.durationMs > other.durationMs",
    replace: "other === undefined",
  },
  {
    ...E7_FILES,
    without: "keeping a file while one of its notes counts",
    file: NOTES,
    find: "if (file.ids.size > 0) return;",
    replace: "",
  },
  {
    ...E7_TIME,
    without: "noting together what is due together",
    file: RUNNING,
    find: "if (this.#ledger.note(due.map((exchange) => exchange.soFar()))) {",
    replace: "if (due.every((exchange) => this.#ledger.note([exchange.soFar()]))) {",
  },
  {
    ...E7_INTERRUPTED,
    without: "looking for the record before its note becomes one",
    file: CLAIM,
    find: "return findRecords(path, new Set(notes.keys()));",
    replace: "return new Set(path === '' ? findRecords(path, new Set(notes.keys())) : []);",
  },
  {
    ...E7_INTERRUPTED,
    without: "writing the record before its note is removed",
    file: NOTES,
    find: "return inOrder.map(({ id, ts, line }) => ({ day: dayOf(ts), line, noteId: id }));",
    replace:
      "for (const { id } of inOrder) this.remove(id);\n      return inOrder.map(({ id, ts, line }) => ({ day: dayOf(ts), line, noteId: id }));",
  },
  {
    ...E7_INTERRUPTED,
    without: "replacing a note as a whole",
    file: NOTES,
    find: "writeNewFile(unfinished, lines);\n    fs.renameSync(unfinished, path);",
    replace: "writeNewFile(path, lines);",
  },
  {
    ...E7_PROCESSES,
    without: "claiming a note, which one daemon alone can do",
    file: CLAIM,
    find: "fs.renameSync(found, path);",
    replace: "fs.copyFileSync(found, path);\n  fs.rmSync(found, { force: true });",
  },
  {
    ...E7_PROCESSES,
    without: "telling a process from a later one with its pid",
    file: IDENTITY,
    find: "identifyByProc(pid) === identity",
    replace: "identifyByProc(pid) !== null",
  },
  {
    ...E7_PROCESSES,
    without: "taking a process that has ended for dead before its parent asks",
    file: IDENTITY,
    find: `stat === null || stat.state === "Z"`,
    replace: "stat === null",
  },
];
