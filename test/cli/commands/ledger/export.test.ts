import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { parseCsv } from "../../../../src/core/text/csv.ts";
import { PROGRAM } from "../../../helpers/daemon/program.ts";
import { homeWithLedger } from "../../../helpers/ledger/home-with-ledger.ts";
import { extraTokens, tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const lineOf = (record: UsageRecord) => `${JSON.stringify(record)}\n`;
const at = (ts: string, changes: Partial<UsageRecord> = {}) => usageRecord({ ts, ...changes });
const idsIn = (ndjson: string) =>
  ndjson
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as UsageRecord).id);

test("ledger export prints the lines of the ledger as they are, each record once, and says what it leaves out", async (t) => {
  const record = at("2026-11-20T10:00:00.000Z", {
    user_agent: "\u202e",
    extra: [extraTokens({ type: "x", model: null, billable: null })],
  });
  const line = lineOf(record).replace("\u202e", "\\u202e");
  const other = lineOf(at("2026-11-21T10:00:00.000Z"));
  const { command } = homeWithLedger(t, {
    "2026-11-20.ndjson": `${line}{"v":3}\nnonsense\n${line}`,
    "2026-11-21.ndjson": `${other}{"v"`,
  });
  const { code, stdout, stderr } = await command("ledger", "export", "--since", "2026-11-01");
  assert.equal(stdout, line + other);
  assert.equal(
    stderr,
    "note: 2 unreadable lines left out, the first of which is 2026-11-20.ndjson:2; to see them all, type: tollkeeper ledger verify\n",
  );
  assert.equal(code, 0);
});

test("ledger export and reconcile say of which days only the sums are left", async (t) => {
  const days = ["2026-10-30", "2026-10-31", "2026-11-20"];
  const { command, home } = homeWithLedger(
    t,
    Object.fromEntries(days.map((day) => [`${day}.ndjson`, lineOf(at(`${day}T10:00:00.000Z`))])),
  );
  assert.equal((await command("ledger", "prune", "--before", "2026-11", "--yes")).code, 0);
  const all = await command("ledger", "export", "--since", "2026-01-01");
  assert.equal(idsIn(all.stdout).length, 1);
  assert.equal(
    all.stderr,
    "note: the records of 2 days, 2026-10-30 to 2026-10-31 are deleted, and only their sums are left: they are not exported; to see them, type: tollkeeper usage --since 2026-10-30 --until 2026-10-31 --utc\n",
  );
  const later = await command("ledger", "export", "--since", "2026-11-01");
  assert.equal(later.stderr, "");
  const file = join(home, "export.csv");
  writeFileSync(
    file,
    "start_time,num_model_requests,model,input_tokens,output_tokens\n2026-10-31T00:00:00Z,1,m,2,3\n",
  );
  const { stderr } = await command("ledger", "reconcile", file);
  assert.match(
    stderr,
    /^note: the records of 2026-10-31 are deleted.*: they are missing in the comparison; /,
  );
});

test("ledger export has the period, time zone and filters of usage", async (t) => {
  const { command } = homeWithLedger(t, {
    "2026-11-20.ndjson":
      lineOf(at("2026-11-20T22:59:59.999Z", { id: "before" })) +
      lineOf(at("2026-11-20T23:00:00.000Z", { id: "first" })),
    "2026-11-21.ndjson":
      lineOf(at("2026-11-21T10:00:00.000Z", { id: "claude", tool: "claude-code" })) +
      lineOf(at("2026-11-21T22:59:59.999Z", { id: "last" })) +
      lineOf(at("2026-11-21T23:00:00.000Z", { id: "after" })),
  });
  const day = ["--since", "2026-11-21", "--until", "2026-11-21", "--timezone", "Europe/Berlin"];
  const berlin = await command("ledger", "export", ...day);
  assert.deepEqual(idsIn(berlin.stdout), ["first", "claude", "last"]);
  const claude = await command("ledger", "export", ...day, "--tool", "claude*");
  assert.deepEqual(idsIn(claude.stdout), ["claude"]);
  const none = await command("ledger", "export", ...day, "--model", "other");
  assert.deepEqual([none.stdout, none.code], ["", 0]);
  assert.match(none.stderr, /^note: there are no such records of 2026-11-21 \(Europe\/Berlin\) in /);
  const wrong = await command("ledger", "export", "--since", "whenever");
  assert.equal(wrong.code, 2);
});

test("ledger export --format csv has a row for each record, and nothing in it is a formula or breaks a line", async (t) => {
  const record = at("2026-11-20T10:00:00.000Z", {
    id: "a",
    tool: '=HYPERLINK("x")',
    session: "one,two;three\n",
    user_agent: "@x",
    model: "-1+1",
    process: { pid: 7, executable: "/bin/x", parents: ["zsh", "k"] },
    stream: false,
    tokens: tokens({ input_uncached: 9_007_199_254_740_991, reasoning: null }),
    server_tools: { web_search: 2 },
    flags: ["bad_json"],
    billed_usd: "0.0042",
  });
  const silent = at("2026-11-20T11:00:00.000Z", {
    id: "b",
    usage: "absent",
    tokens: null,
    spend: "never",
    status: null,
  });
  const { command } = homeWithLedger(t, { "2026-11-20.ndjson": lineOf(record) + lineOf(silent) });
  const { code, stdout } = await command("ledger", "export", "--since", "2026-11-20", "--format", "csv");
  assert.equal(code, 0);
  assert.equal(stdout.split("\r\n").length, 4);
  assert.doesNotMatch(stdout, /[^\r]\n/);
  const [header = [], ...rows] = parseCsv(stdout);
  const [first, second] = rows.map((row) =>
    Object.fromEntries(header.map((name, index) => [name, row[index]])),
  );
  const cells = {
    tool: `'=HYPERLINK("x")`,
    session: String.raw`one,two;three\u000a`,
    user_agent: "'@x",
    model: "'-1+1",
    process_parents: '["zsh","k"]',
    stream: "false",
    input_uncached: "9007199254740991",
    reasoning: "",
    server_tools: '{"web_search":2}',
    flags: '["bad_json"]',
    billed_usd: "0.0042",
    ttft_ms: "200.5",
  };
  for (const [name, cell] of Object.entries(cells)) assert.equal(first?.[name], cell, name);
  assert.deepEqual([second?.["id"], second?.["output"], second?.["status"]], ["b", "", ""]);
});

test("ledger export into a pipe whose reader goes away ends at once, without an error", async (t) => {
  const line = lineOf(at("2026-11-20T10:00:00.000Z")).replace("record-", "record-x");
  const many = Array.from({ length: 20_000 }, (_, index) => line.replace("record-x", `${index}-`)).join("");
  const { env, configFile } = homeWithLedger(t, { "2026-11-20.ndjson": many });
  const args = ["ledger", "export", "--since", "2026-11-20", "--config", configFile];
  const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const said = text(child.stderr);
  await once(child.stdout, "readable");
  child.stdout.destroy();
  const [code] = (await once(child, "exit")) as [number];
  assert.deepEqual([code, await said], [0, ""]);
});
