import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ledgerScratchDirectory, startLedger, TODAY } from "../../helpers/ledger/ledger.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { readRecord } from "../../helpers/ledger/read-record.ts";

test("writes a record as one line of its day's file before append returns", (t) => {
  const { ledger, read, directory } = startLedger(t);
  const record = usageRecord({ raw_usage: { input_tokens: 10 }, server_tools: { web_search: 2 } });
  ledger.append([record]);
  const text = read(`${TODAY}.ndjson`);
  assert.equal(text.indexOf("\n"), text.length - 1);
  assert.deepEqual(readRecord(text), record);
  assert.deepEqual(ledger.health(), { directory, written: 1, waiting: 0, lost: 0, lastError: null });
});

test("writes a record to the file of the day in its own timestamp, even after that day", (t) => {
  const { ledger, ids } = startLedger(t);
  const late = usageRecord({ ts: "2026-11-20T23:59:59.999Z" });
  const [before, after] = [usageRecord(), usageRecord()];
  for (const record of [before, late, after]) ledger.append([record]);
  assert.deepEqual(ids("2026-11-20"), [late.id]);
  assert.deepEqual(ids(), [before.id, after.id]);
});

test("writes records that come together to the files of their days, in order", (t) => {
  const { ledger, ids } = startLedger(t);
  const days = { a: "20", b: "20", c: "21", d: "20", e: "21", f: "21" };
  ledger.append(
    Object.entries(days).map(([id, day]) => usageRecord({ id, ts: `2026-11-${day}T23:59:59.999Z` })),
  );
  assert.deepEqual(
    [ids("2026-11-20"), ids()],
    [
      ["a", "b", "d"],
      ["c", "e", "f"],
    ],
  );
  assert.equal(ledger.health().written, 6);
});

test("escapes control characters and line separators so that a record parses back unchanged", (t) => {
  const { ledger, read } = startLedger(t);
  const text = 'a\n{"v":1}\r\u001b[2J\u007f\u0085\u009b\u200e\u202e\u2066\u2069\u2028\u2029é"\\';
  const record = usageRecord({ user_agent: text, session: text, raw_usage: { [text]: text } });
  ledger.append([record]);
  const line = read(`${TODAY}.ndjson`);
  assert.doesNotMatch(line.slice(0, -1), /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
  assert.match(line, /é/);
  assert.deepEqual(readRecord(line), record);
});

test("truncates long texts, never within a character", (t) => {
  const { ledger, read } = startLedger(t);
  const long = "😀".repeat(1000);
  ledger.append([usageRecord({ user_agent: `.${long}`, tool: `.${long}`, server_tools: { [long]: 1 } })]);
  const record = readRecord(read(`${TODAY}.ndjson`));
  assert.equal(record.user_agent, `.${"😀".repeat(255)}`);
  assert.equal(record.tool, `.${"😀".repeat(127)}`);
  assert.deepEqual(record.server_tools, { ["😀".repeat(128)]: 1 });
});

test("limits a process to 16 parents, and its paths and names in length", (t) => {
  const { ledger, read } = startLedger(t);
  const path = `/${"x".repeat(1023)}`;
  const small = { pid: 1, executable: path, parents: Array<string>(16).fill("p".repeat(256)) };
  for (const changes of [
    { process: small, project: path },
    { process: { ...small, executable: `${path}x` }, project: path },
    { process: { ...small, parents: [...small.parents, "sh"] }, project: path },
    { process: { ...small, parents: small.parents.map((name) => `${name}p`) }, project: path },
    { process: small, project: `${path}x` },
  ]) {
    ledger.append([usageRecord({ ...changes, project: null })]);
    ledger.append([usageRecord(changes)]);
  }
  for (const [i, line] of read(`${TODAY}.ndjson`).trim().split("\n").entries()) {
    const { process, project } = readRecord(line);
    assert.deepEqual([process, project], [small, i % 2 === 0 ? null : path]);
  }
});

test("leaves out a raw usage of more than 64 KiB, flags that, and keeps the counts", (t) => {
  const { ledger, read } = startLedger(t);
  const fitting = usageRecord({ raw_usage: { x: "y".repeat(65_536 - '{"x":""}'.length) } });
  const large = usageRecord({ raw_usage: { x: "y".repeat(65_536) } });
  ledger.append([fitting]);
  ledger.append([large]);
  const [first, second] = read(`${TODAY}.ndjson`).split("\n").slice(0, 2);
  assert.deepEqual(readRecord(first ?? ""), fitting);
  assert.deepEqual(readRecord(second ?? ""), { ...large, raw_usage: null, flags: ["raw_usage_too_large"] });
});

test("leaves out a raw usage that is nested too deeply to serialize", (t) => {
  const { ledger, read } = startLedger(t);
  const raw_usage = JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`) as Record<
    string,
    unknown
  >;
  const record = usageRecord({ raw_usage });
  ledger.append([record]);
  const expected = { ...record, raw_usage: null, flags: ["raw_usage_too_large"] };
  assert.deepEqual(readRecord(read(`${TODAY}.ndjson`)), expected);
});

for (const umask of [0o000, 0o777]) {
  const name = umask.toString(8).padStart(3, "0");
  test(`creates directory and files for their owner only under umask ${name}`, (t) => {
    const scratch = ledgerScratchDirectory(t);
    const before = process.umask(umask);
    t.after(() => process.umask(before));
    const { ledger, directory } = startLedger(t, { directory: join(scratch, "ledger") });
    ledger.append([usageRecord()]);
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    assert.equal(statSync(join(directory, `${TODAY}.ndjson`)).mode & 0o777, 0o600);
  });
}

test("keeps every appended record when the daemon is killed", async (t) => {
  const directory = join(ledgerScratchDirectory(t), "ledger");
  const program = `
    import { openLedger } from "./src/adapters/ledger-file.ts";
    import { MemoryLog, ManualClock } from "./test/helpers/gate/memory.ts";
    import { usageRecord } from "./test/helpers/ledger/usage-record.ts";
    const directory = ${JSON.stringify(directory)};
    const ledger = openLedger({ directory, retainDays: 400, clock: new ManualClock(), log: new MemoryLog(), onNewDay() {} });
    for (let i = 0; i < 500; i += 1) ledger.append([usageRecord()]);
    process.kill(process.pid, "SIGKILL");`;
  const cwd = fileURLToPath(new URL("../../../", import.meta.url));
  const args = ["--import", "tsx", "--input-type=module", "--eval", program];
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
  assert.deepEqual(await once(child, "exit"), [null, "SIGKILL"]);
  const lines = readFileSync(join(directory, `${TODAY}.ndjson`), "utf8").split("\n");
  assert.equal(lines.pop(), "");
  assert.equal(lines.map(readRecord).length, 500);
});
