import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { formatRecord } from "../../../../src/core/ledger/format-record.ts";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { runProgram } from "../../../helpers/daemon/run-program.ts";
import { ledgerScratchDirectory } from "../../../helpers/ledger/ledger.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const PRICES = { "house-1": { input: 2, cacheRead: 0.2, cacheWrite: 2.5, output: 10 } };

const HIT = tokens({ input_uncached: 1_000, cache_read: 49_000, output: 100 });
const LOST = tokens({ input_uncached: 1_000, cache_write: 49_000, output: 100 });

/** Two agents of a session: three misses among five requests, and one request of another tool. */
const RECORDS: Partial<UsageRecord>[] = [
  { tokens: HIT },
  { tokens: LOST, miss: "tools_changed", miss_by: "said", miss_tokens: 40_000 },
  { tokens: LOST, miss: "tools_changed", miss_by: "inferred", miss_tokens: 20_000 },
  { tokens: LOST, miss: "idle_5m", miss_by: "inferred", miss_tokens: 49_000, agent: "a1" },
  { tokens: HIT, agent: "a1" },
  { tokens: HIT, tool: "claude-code", session: "s2" },
];

function usage(t: TestContext, ...args: string[]) {
  const home = ledgerScratchDirectory(t);
  const [ledger, config] = [join(home, "ledger"), join(home, "config.jsonc")];
  mkdirSync(ledger);
  writeFileSync(config, JSON.stringify({ ledger: { directory: ledger }, prices: PRICES }));
  const lines = RECORDS.map(
    (changes) => `${formatRecord(usageRecord({ session: "s1", model: "house-1", ...changes }))}\n`,
  );
  writeFileSync(join(ledger, "2026-11-21.ndjson"), lines.join(""));
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, TZ: "UTC", XDG_RUNTIME_DIR: home };
  return runProgram(["--config", config, "usage", ...args, "--since", "2026-11-01"], { env });
}

test("usage --by miss says what each reason cost over a hit, and the habit that avoids it", async (t) => {
  const { stdout, stderr, code } = await usage(t, "--by", "miss");
  assert.equal(code, 0, stderr);
  const lines = stdout.split("\n");
  const head = lines.find((line) => line.startsWith("miss ")) ?? "";
  assert.match(head, /missed +over a hit/);
  const row = (name: string) => (lines.find((line) => line.startsWith(name)) ?? "").replaceAll(/ +/g, " ");
  assert.match(row("tools changed"), / 60,000 \$0\.1380 /);
  assert.match(row("idle 5m"), / 49,000 \$0\.1127 /);
  assert.match(row("total"), / 109,000 \$0\.2507 /);
  assert.match(row("(no miss)"), /^\(no miss\) /);
  const text = stdout.replaceAll(/\s+/g, " ");
  assert.match(text, /tools changed: Connect MCP servers and choose tools before a session starts/);
  assert.match(text, /idle 5m: Go on within 5 minutes/);
});

test("each tool has its reasons, and other reports have no column for them", async (t) => {
  const { stdout } = await usage(t, "--by", "tool,miss");
  assert.match(stdout, /^codex +tools changed /m);
  assert.match(stdout, /^claude-code +\(no miss\) /m);
  const plain = await usage(t);
  assert.doesNotMatch(plain.stdout, /missed|over a hit/);
});

/** What a row of a document says of misses. */
function figures(row: Record<string, unknown>): unknown[] {
  return ["miss", "misses", "miss_tokens", "miss_cost_usd", "miss_plan_worth_usd", "miss_cost_is_exact"].map(
    (name) => row[name],
  );
}

test("JSON and CSV have how many missed, their tokens, and the cost over a hit", async (t) => {
  const { rows, total } = JSON.parse((await usage(t, "--by", "miss", "--json")).stdout) as {
    rows: Record<string, unknown>[];
    total: Record<string, unknown>;
  };
  assert.deepEqual(rows.map(figures), [
    ["tools_changed", 2, 60_000, "0.138", null, true],
    ["idle_5m", 1, 49_000, "0.1127", null, true],
    [null, 0, 0, null, null, null],
  ]);
  assert.deepEqual(figures(total).slice(1), [3, 109_000, "0.2507", null, true]);
  const { stdout } = await usage(t, "--by", "miss", "--csv");
  const [head = "", first = ""] = stdout.split("\r\n");
  const at = head.split(",").indexOf("misses");
  assert.deepEqual(first.split(",").slice(at, at + 5), ["2", "60000", "0.138", "", "true"]);
  const other = JSON.parse((await usage(t, "--json")).stdout) as { total: Record<string, unknown> };
  assert.deepEqual(figures(other.total).slice(1), [3, 109_000, null, null, null]);
});

test("a session lists its misses, each with its reason, and so does its document", async (t) => {
  const { stdout, stderr } = await usage(t, "session", "s1");
  assert.equal(stderr, "");
  const lines = stdout.split("\n").filter((line) => /\((?:says the service|inferred)\)/.test(line));
  assert.deepEqual(
    lines.map((line) => line.trim().replaceAll(/ {2,}/g, " | ")),
    [
      "2026-11-21 12:00 | main | the tools changed (says the service) | 40,000 | $0.0920",
      "2026-11-21 12:00 | main | the tools changed (inferred) | 20,000 | $0.0460",
      "2026-11-21 12:00 | a1 | the session was idle for longer than the cache lives, 5 minutes (inferred) | 49,000 | $0.113",
    ],
  );
  const { misses } = JSON.parse((await usage(t, "session", "s1", "--json")).stdout) as {
    misses: Record<string, unknown>[];
  };
  assert.deepEqual(
    misses.map((one) => [
      one["agent"],
      one["miss"],
      one["miss_by"],
      one["miss_tokens"],
      one["miss_cost_usd"],
    ]),
    [
      [null, "tools_changed", "said", 40_000, "0.092"],
      [null, "tools_changed", "inferred", 20_000, "0.046"],
      ["a1", "idle_5m", "inferred", 49_000, "0.1127"],
    ],
  );
  const other = await usage(t, "session", "s2");
  assert.doesNotMatch(other.stdout, /missed at/);
});
