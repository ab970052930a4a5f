import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { closeSync, openSync, statSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fileLine, isJournal, journalLine, terminalLine } from "../../src/adapters/log/line-form.ts";

const LOG = fileURLToPath(new URL("../../src/adapters/log.ts", import.meta.url));

/** ESC, NEL, a right-to-left override, a line separator, and a line break followed by what looks like a line of ours. */
const HOSTILE = 'a\u001b[2Jb\u0085c\u202ed\u2028e\n{"level":50,"msg":"forged"}';

/** A process that opens the log as `serve` does and then runs `statement`. */
function program(statement: string, debug = false): string[] {
  const opening = `import { openLog } from ${JSON.stringify(LOG)};
    const log = openLog({ debug: ${debug}, file: null });`;
  return ["--import", "tsx", "--input-type=module", "--eval", `${opening} ${statement}`];
}

/** What such a process says on standard error when that is a pipe. */
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

function isInstalled(tool: string): boolean {
  try {
    execFileSync("/bin/sh", ["-c", `command -v ${tool}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test("into a pipe each line is JSON with level, time, pid, message and facts", async () => {
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

test("debug lines are there only when they were asked for", async () => {
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

test("a line logged right before the end of the process is whole", async () => {
  const [entry] = entriesOf(
    await logOf(`log.error({ text: "x".repeat(100_000) }, "last words"); process.exit(1);`).catch(
      (error: { stderr: string }) => error.stderr,
    ),
  );
  assert.equal(entry?.["msg"], "last words");
});

test("what acts on terminals and viewers is escaped in JSON lines, and keeps its meaning", async () => {
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

test("headers are taken out even where somebody passes them in", async () => {
  const text = await logOf(`log.info({ headers: { a: "hidden" }, req: { headers: ["hidden"] } }, "in");`);
  assert.doesNotMatch(text, /hidden/);
});

test("on a terminal a line is time, level, message, facts", () => {
  const time = Date.UTC(2026, 10, 21, 12, 34, 56);
  const line = terminalLine(
    JSON.stringify({ level: 40, time, pid: 1, msg: "slow", ms: 7, tool: "codex", at: [1] }),
  );
  assert.match(line, /^\d\d:\d\d:56 {2}warn {3}slow {2}ms=7 {2}tool=codex {2}at=\[1\]$/);
});

test("on a terminal what a stranger says stays in its line and moves nothing", () => {
  const line = terminalLine(JSON.stringify({ level: 30, time: 0, msg: HOSTILE, agent: HOSTILE }));
  assert.doesNotMatch(line, /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
  assert.match(line, /a\\u001b\[2Jb\\u0085c\\u202ed\\u2028e\\u000a/);
});

test("in the journal a line has syslog's priority before it, and no time of its own", () => {
  const lines = [20, 30, 40, 50, 60].map((level) => ({ level, time: 0, pid: 1, msg: "slow", ms: 7 }));
  assert.deepEqual(
    lines.map((line) => journalLine(JSON.stringify(line))),
    ["<7>slow  ms=7", "<6>slow  ms=7", "<4>slow  ms=7", "<3>slow  ms=7", "<2>slow  ms=7"],
  );
});

test("the journal is told from another file by the device and inode that it names", () => {
  const { dev, ino } = statSync("/dev/null");
  const fd = openSync("/dev/null", "w");
  assert.deepEqual(
    [`${dev}:${ino}`, `${dev}:${ino + 1}`, undefined].map((stream) => isJournal(fd, stream)),
    [true, false, false],
  );
  closeSync(fd);
});

test("in a file a line has its whole time", () => {
  const line = fileLine(
    JSON.stringify({ level: 50, time: Date.UTC(2026, 10, 21, 12), pid: 1, msg: "broken" }),
  );
  assert.equal(line, "2026-11-21T12:00:00.000Z  error  broken");
});

test(
  "a real terminal gets the lines for people",
  { skip: !isInstalled("script") && "not installed: script (apt-get install bsdutils)" },
  async () => {
    const command = [process.execPath, ...program(`log.warn({ tool: "codex" }, "slow");`)];
    const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    const { stdout } = await promisify(execFile)("script", ["-qec", quoted, "/dev/null"]);
    assert.match(stdout, /^\d\d:\d\d:\d\d {2}warn {3}slow {2}tool=codex\r\n$/);
  },
);
