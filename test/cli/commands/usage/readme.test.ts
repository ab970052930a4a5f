// The README begins with a report: it is what the program prints of these records.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { UTC_CALENDAR } from "../../../../src/core/ledger/calendar.ts";
import { parsePeriod } from "../../../../src/core/ledger/period.ts";
import { renderedReport } from "../../../helpers/ledger/rendered-report.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const SONNET = { model: "claude-sonnet-5", route: "/messages" };
const GPT = { model: "gpt-5.4" };

/** Requests of a tool, each with the same counts. */
const requests = (
  tool: string,
  count: number,
  changes: { model: string },
  counts: Parameters<typeof tokens>[0],
) => Array.from({ length: count }, () => usageRecord({ tool, ...changes, tokens: tokens(counts) }));

const RECORDS = [
  ...requests("codex", 9, GPT, { input_uncached: 6352, cache_read: 4800, output: 128 }),
  ...requests("claude-code", 14, SONNET, {
    input_uncached: 470,
    cache_read: 17_280,
    cache_write: 828,
    output: 229,
  }),
  ...requests("opencode", 5, SONNET, { input_uncached: 1527, output: 88 }),
  ...requests("nightly-job", 3, GPT, { input_uncached: 608, output: 106 }),
  usageRecord({
    tool: "opencode",
    ...SONNET,
    outcome: "cut",
    usage: "partial",
    tokens: tokens({ input_uncached: 1527, output: 3 }),
  }),
  usageRecord({
    tool: "codex",
    ...GPT,
    outcome: "error",
    status: 429,
    usage: "absent",
    tokens: null,
    spend: "never",
  }),
];

test("the report in the README is what usage prints", () => {
  const period = parsePeriod(
    { since: "30d", until: undefined },
    Date.parse("2026-11-23T12:00:00Z"),
    UTC_CALENDAR,
  );
  const readme = readFileSync(new URL("../../../../README.md", import.meta.url), "utf8");
  const block = /^```\n\$ tollkeeper usage\n([^]*?)\n```$/m.exec(readme)?.[1];
  assert.equal(block, renderedReport(RECORDS, { period }));
});
