import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { closeSync, openSync, statSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";
import { compileModule } from "../helpers/process/compile-module.ts";
import { noTerminal } from "../helpers/process/terminal.ts";
import {
  formatForFile,
  isJournal,
  formatForJournal,
  formatForTerminal,
} from "../../src/adapters/log/line-format.ts";

const LOG = await compileModule("src/adapters/log.ts");

/** ESC, NEL, a right-to-left override, a line separator, and a line break followed by a forged log line. */
const HOSTILE = 'a\u001b[2Jb\u0085c\u202ed\u2028e\n{"level":50,"msg":"forged"}';

/** Returns Node arguments that open the log as `serve` does and then run `statement`. */
function program(statement: string, debug = false): string[] {
  const opening = `import { openLog } from ${JSON.stringify(LOG)};
    const log = openLog({ debug: ${debug}, file: null, configOption: "" });`;
  return ["--input-type=module", "--eval", `${opening} ${statement}`];
}

/** Returns what such a process writes to standard error, which is a pipe. */
async function logOf(statement: string, debug = false): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, program(statement, debug));
  assert.equal(stdout, "");
  return stderr;
}

const entriesOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("writes JSON lines with level, time, pid, message and facts to a pipe", async () => {
  const [info, error] = entriesOf(
    await logOf(`log.info({ port: 1 }, "ready"); log.error({ err: new Error("oh") }, "broken");`),
  );
  assert.deepEqual([info?.["level"], info?.["msg"], info?.["port"]], [30, "ready", 1]);
  assert.deepEqual(
    [typeof info?.["time"], typeof info?.["pid"], info?.["hostname"]],
    ["number", "number", undefined],
  );
  assert.equal(error?.["level"], 50);
  assert.match(JSON.stringify(error?.["err"]), /"message":"oh"/);
});

test("writes debug lines only when debug logging is on", async () => {
  const statement = `log.debug({}, "detail"); log.warn({}, "warning");`;
  assert.deepEqual(
    entriesOf(await logOf(statement)).map(({ msg }) => msg),
    ["warning"],
  );
  assert.deepEqual(
    entriesOf(await logOf(statement, true)).map(({ msg }) => msg),
    ["detail", "warning"],
  );
});

test("writes a line that is logged right before the process exits completely", async () => {
  const [entry] = entriesOf(
    await logOf(`log.error({ text: "x".repeat(100_000) }, "last words"); process.exit(1);`).catch(
      (error: { stderr: string }) => error.stderr,
    ),
  );
  assert.equal(entry?.["msg"], "last words");
});

test("escapes control characters in JSON lines so that they parse back to the same text", async () => {
  const hostile = JSON.stringify(HOSTILE);
  const text = await logOf(`log.warn({ agent: ${hostile}, nested: { agent: ${hostile} } }, ${hostile});`);
  assert.doesNotMatch(text, /[^\P{Cc}\n]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
  const entries = entriesOf(text);
  assert.equal(entries.length, 1);
  assert.deepEqual(
    [entries[0]?.["msg"], entries[0]?.["agent"], entries[0]?.["nested"]],
    [HOSTILE, HOSTILE, { agent: HOSTILE }],
  );
});

test("redacts headers even when a caller passes them in", async () => {
  const text = await logOf(`log.info({ headers: { a: "hidden" }, req: { headers: ["hidden"] } }, "in");`);
  assert.doesNotMatch(text, /hidden/);
});

test("formats a terminal's line as time, level, message and facts", () => {
  const time = Date.UTC(2026, 10, 21, 12, 34, 56);
  const line = formatForTerminal(
    JSON.stringify({ level: 40, time, pid: 1, msg: "slow", ms: 7, tool: "codex", at: [1] }),
  );
  assert.match(line, /^\d\d:\d\d:56 {2}warn {3}slow {2}ms=7 {2}tool=codex {2}at=\[1\]$/);
});

test("escapes control characters and line breaks in a terminal's line", () => {
  const line = formatForTerminal(JSON.stringify({ level: 30, time: 0, msg: HOSTILE, agent: HOSTILE }));
  assert.doesNotMatch(line, /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
  assert.match(line, /a\\u001b\[2Jb\\u0085c\\u202ed\\u2028e\\u000a/);
});

test("formats a journal's line with a syslog priority and without a time", () => {
  const lines = [20, 30, 40, 50, 60].map((level) => ({ level, time: 0, pid: 1, msg: "slow", ms: 7 }));
  assert.deepEqual(
    lines.map((line) => formatForJournal(JSON.stringify(line))),
    ["<7>slow  ms=7", "<6>slow  ms=7", "<4>slow  ms=7", "<3>slow  ms=7", "<2>slow  ms=7"],
  );
});

test("recognizes the journal by the device and inode in JOURNAL_STREAM", () => {
  const { dev, ino } = statSync("/dev/null");
  const fd = openSync("/dev/null", "w");
  assert.deepEqual(
    [`${dev}:${ino}`, `${dev}:${ino + 1}`, undefined].map((stream) => isJournal(fd, stream)),
    [true, false, false],
  );
  closeSync(fd);
});

test("formats a log file's line with date and time in UTC", () => {
  const line = formatForFile(
    JSON.stringify({ level: 50, time: Date.UTC(2026, 10, 21, 12), pid: 1, msg: "broken" }),
  );
  assert.equal(line, "2026-11-21T12:00:00.000Z  error  broken");
});

test("writes lines for people to a real terminal", { skip: noTerminal }, async () => {
  const command = [process.execPath, ...program(`log.warn({ tool: "codex" }, "slow");`)];
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const { stdout } = await promisify(execFile)("script", ["-qec", quoted, "/dev/null"]);
  assert.match(stdout, /^\d\d:\d\d:\d\d {2}warn {3}slow {2}tool=codex\r\n$/);
});

test("commands in messages and facts of the log name the configuration that the daemon was started with", async () => {
  const [opening] = program("").slice(-1);
  const named = (opening ?? "").replace('configOption: ""', 'configOption: "--config /a/b.jsonc"');
  const script = `${named} log.warn({ hint: "type: tollkeeper config edit", count: 1 }, "find the cause with: tollkeeper doctor");`;
  const { stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  const { msg, hint, count } = JSON.parse(stderr) as Record<string, unknown>;
  assert.deepEqual(
    [msg, hint, count],
    [
      "find the cause with: tollkeeper --config /a/b.jsonc doctor",
      "type: tollkeeper --config /a/b.jsonc config edit",
      1,
    ],
  );
});
