import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { DaySummer, type LedgerQuestion, type ReadDay } from "../../../src/cli/sums/sum-day.ts";
import { sumInWorkers } from "../../../src/cli/sums/sum-in-workers.ts";
import { priceSettingsOf, defaultConfig } from "../../../src/core/config/config.ts";
import { Failure } from "../../../src/core/failure.ts";
import { UTC_CALENDAR } from "../../../src/core/ledger/calendar.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { ReportBuilder, type UsageReport } from "../../../src/core/ledger/report.ts";
import { ledgerScratchDirectory } from "../../helpers/ledger/ledger.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { extraTokens, tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const DAYS = ["2026-11-18", "2026-11-19", "2026-11-20", "2026-11-21"];
const TO_READ = DAYS.map((day) => ({ day, sums: null }));
const PRICES = priceBook({});

function questionFor(directory: string): LedgerQuestion {
  const since = Date.parse("2026-11-18T06:00:00Z");
  const by = ["tool", "model"] as const;
  const config = priceSettingsOf(defaultConfig);
  const limits = PRICES.allLimits();
  return { directory, since, until: null, by, zone: "UTC", filter: {}, config, limits };
}

function recordsOf(day: string, at: number): UsageRecord[] {
  return [
    usageRecord({ ts: `${day}T05:00:00.000Z`, tool: at === 0 ? "too-early" : "codex" }),
    usageRecord({ ts: `${day}T12:00:00.000Z`, tokens: tokens({ input_uncached: 250_000, output: at }) }),
    usageRecord({ ts: `${day}T13:00:00.000Z`, tool: "zed", billed_usd: "0.0123", upstream: "openrouter" }),
    usageRecord({ ts: `${day}T13:00:00.000Z`, upstream: "sandbox", tool: "zed" }),
    usageRecord({
      ts: `${day}T14:00:00.000Z`,
      server_tools: { web_search: 2 },
      extra: [extraTokens({ type: "advisor_message", model: "claude-opus-4-8", billable: true, output: 9 })],
    }),
    usageRecord({ ts: `${day}T15:00:00.000Z`, outcome: "error", status: 429, tokens: null, usage: "absent" }),
    usageRecord({
      ts: `${day}T16:00:00.000Z`,
      tool: "aider",
      route: "/chat/completions",
      usage: "absent",
      tokens: null,
      spend: "never",
    }),
  ];
}

/** Writes a ledger that has everything which is handed over between workers. */
function writeLedger(t: TestContext): string {
  const directory = join(ledgerScratchDirectory(t), "ledger");
  mkdirSync(directory);
  const background = { spend: "attach_by_response_id", response_id: "resp_1" } as const;
  const created = { ...background, usage: "pending", tokens: null, outcome: "queued" } as const;
  const fetched = { ...background, method: "GET", route: "/responses/{id}", tool: "poller" } as const;
  for (const [at, day] of DAYS.entries()) {
    const lines = recordsOf(day, at);
    if (at === 1) lines.push(usageRecord({ ...created, ts: `${day}T20:00:00.000Z`, tool: "batcher" }));
    if (at === 3) lines.push(usageRecord({ ...fetched, ts: `${day}T20:00:00.000Z` }));
    const text = lines.map((record) => `${JSON.stringify(record)}\n`).join("");
    writeFileSync(join(directory, `${day}.ndjson`), at === 2 ? `${text}torn\n` : text);
  }
  return directory;
}

async function reportOf(days: AsyncIterable<ReadDay>): Promise<UsageReport> {
  const question = { by: ["tool", "model"] as const, calendar: UTC_CALENDAR, prices: PRICES, filter: {} };
  const builder = new ReportBuilder(question);
  for await (const day of days) if ("sums" in day) builder.add(day.sums);
  return builder.finish();
}

function row({ names, sums, cost }: UsageReport["total"]): object {
  return { names, sums: sums.encode(), cost };
}

/** What a report says, as data. */
function shown({ rows, total, sandbox, unaskingTools }: UsageReport): object {
  return { rows: rows.map(row), total: row(total), sandbox: sandbox.rows.map(row), unaskingTools };
}

async function* sumHere(summer: DaySummer) {
  for (const day of TO_READ) yield await summer.read(day);
}

test("workers add up what one process does, to the last digit", async (t) => {
  const question = questionFor(writeLedger(t));
  const summer = await DaySummer.load(question);
  const here = shown(await reportOf(sumHere(summer)));
  for (const count of [1, 2, 3]) {
    const report = await reportOf(sumInWorkers(question, TO_READ, count, summer));
    assert.deepEqual(shown(report), here, `${count} workers`);
  }
  const tools = (await reportOf(sumHere(summer))).rows.map(({ names: [tool] }) => tool);
  assert.deepEqual([...new Set(tools)].map(String).toSorted(), ["aider", "batcher", "codex", "zed"]);
});

test("workers say which lines are not records, in the order of the days", async (t) => {
  const question = questionFor(writeLedger(t));
  const summer = await DaySummer.load(question);
  const unreadable: string[] = [];
  for await (const day of sumInWorkers(question, TO_READ, 2, summer))
    if ("skipped" in day && day.skipped.first !== null)
      unreadable.push(`${day.skipped.count} from ${day.skipped.first.file}:${day.skipped.first.line}`);
  assert.deepEqual(unreadable, ["1 from 2026-11-20.ndjson:8"]);
});

test("what a worker cannot read fails with its message and hint, and ends all workers", async (t) => {
  const directory = writeLedger(t);
  mkdirSync(join(directory, "2026-11-22.ndjson"));
  const question = questionFor(directory);
  const summer = await DaySummer.load(question);
  const days = sumInWorkers(question, [...TO_READ, { day: "2026-11-22", sums: null }], 2, summer);
  await assert.rejects(
    async () => {
      for await (const day of days) assert.ok(day);
    },
    (error) =>
      error instanceof Failure &&
      /not a regular file/.test(error.message) &&
      (error.hint ?? "").startsWith("mv "),
  );
});
