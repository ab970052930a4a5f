import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { formatRecord } from "../../../../src/core/ledger/format-record.ts";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { runProgram } from "../../../helpers/daemon/run-program.ts";
import { ledgerScratchDirectory } from "../../../helpers/ledger/ledger.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

/** Runs `usage` on a ledger with these records, all of one day. */
function usage(t: TestContext, records: readonly Partial<UsageRecord>[], ...args: string[]) {
  const home = ledgerScratchDirectory(t);
  const [ledger, config] = [join(home, "ledger"), join(home, "config.jsonc")];
  mkdirSync(ledger);
  writeFileSync(config, JSON.stringify({ ledger: { directory: ledger } }));
  const lines = records.map((changes) => `${formatRecord(usageRecord({ session: "s1", ...changes }))}\n`);
  writeFileSync(join(ledger, "2026-11-21.ndjson"), lines.join(""));
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, TZ: "UTC", XDG_RUNTIME_DIR: home };
  return runProgram(["--config", config, "usage", ...args, "--since", "2026-11-01"], { env });
}

const million = tokens({ input_uncached: 1_000_000 });
const half = tokens({ input_uncached: 100_000, cache_read: 400_000 });
const RECORDS: Partial<UsageRecord>[] = [
  { agent_kind: "main", tokens: million },
  { agent: "a9ce25b5e8a1a2f4c", agent_kind: "subagent", tokens: million },
  { agent: "a1b2c3d4e5", agent_parent: "a9ce25b5e8a1a2f4c", agent_kind: "subagent", tokens: half },
  { session: "s2", agent_kind: "main", tokens: million },
];

test("a session is a tree of its agents, each with what it used, and the total", async (t) => {
  const { stdout, stderr, code } = await usage(t, RECORDS, "session", "s1");
  assert.equal(code, 0, stderr);
  const lines = stdout.split("\n").filter((line) => /main|a9ce|a1b2|total/.test(line));
  assert.equal(lines.length, 4, stdout);
  assert.match(lines[0] ?? "", /^main +main +\$1\.25 +1 +1,000,000 +0%/);
  assert.match(lines[1] ?? "", /^└ a9ce25b5e8a1a2f4c +subagent +\$1\.25 /);
  assert.match(lines[2] ?? "", /^ {2}└ a1b2c3d4e5 +subagent +\$0\.1[78] +1 +500,000 +80%/);
  assert.match(lines[3] ?? "", /^total +\$2\.6[78] +3 +2,500,000/);
});

test("the document has a row for each agent and kind, and the sums of `usage --session`", async (t) => {
  const tree = JSON.parse((await usage(t, RECORDS, "session", "s1", "--json")).stdout);
  const flat = JSON.parse((await usage(t, RECORDS, "--session", "s1", "--json")).stdout);
  assert.deepEqual(tree.total, flat.total);
  assert.deepEqual(
    tree.rows.map((row: Record<string, unknown>) => [
      row["agent"],
      row["agent_parent"],
      row["agent_kind"],
      row["depth"],
      row["requests"],
    ]),
    [
      [null, null, "main", 0, 1],
      ["a9ce25b5e8a1a2f4c", null, "subagent", 1, 1],
      ["a1b2c3d4e5", "a9ce25b5e8a1a2f4c", "subagent", 2, 1],
    ],
  );
});

test("a session of the sandbox is shown as made up", async (t) => {
  const { stdout } = await usage(t, [{ upstream: "sandbox" }], "session", "s1");
  assert.match(stdout, /^Sandbox: session s1 by agent.*made\s+up/s);
});

test("the beginning of an id is enough where one session has it, and those of several are listed", async (t) => {
  const records = [{ session: "10ee229e-x" }, { session: "10ee03af-x" }, { session: "20" }];
  const { stdout } = await usage(t, records, "session", "10ee2");
  assert.match(stdout, /^Usage of session 10ee229e-x by agent/);
  const several = await usage(t, records, "session", "10ee");
  assert.equal(several.code, 1);
  assert.match(
    several.stderr,
    /^error: 2 sessions begin with 10ee\nhint: type more of one of these: 10ee\S+, 10ee\S+\n/,
  );
});

test("a session that is not recorded is an error, and so is what says nothing of a session", async (t) => {
  const none = await usage(t, RECORDS, "session", "s3");
  assert.notEqual(none.code, 0);
  assert.match(none.stderr, /no request of session s3 is recorded.*\n.*usage --by session/);
  const wrong = await usage(t, RECORDS, "session", "s1", "--by", "model");
  assert.match(wrong.stderr, /"usage session" takes no --by/);
});
