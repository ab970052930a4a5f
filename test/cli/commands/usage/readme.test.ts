// The README begins with a report: it is what the program prints of these records.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { UTC_CALENDAR } from "../../../../src/core/ledger/calendar.ts";
import { parsePeriod } from "../../../../src/core/ledger/period.ts";
import { renderedReport } from "../../../helpers/ledger/rendered-report.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const SONNET = { model: "claude-sonnet-5", route: "/messages" };
const GPT = { model: "gpt-5" };

/** Requests of a tool, each with the same counts. */
const requests = (
  tool: string,
  count: number,
  changes: { model: string },
  counts: Parameters<typeof tokens>[0],
) => Array.from({ length: count }, () => usageRecord({ tool, ...changes, tokens: tokens(counts) }));

/** What a daemon recorded of 33 requests to `tollkeeper sandbox`. */
const RECORDS = [
  ...requests("claude-code", 1, SONNET, { input_uncached: 510, cache_write: 15_300, output: 106 }),
  ...requests("claude-code", 13, SONNET, { input_uncached: 510, cache_read: 15_300, output: 106 }),
  ...requests("codex", 1, GPT, { input_uncached: 7650, output: 106 }),
  ...requests("codex", 8, GPT, { input_uncached: 98, cache_read: 7552, output: 106 }),
  ...requests("opencode", 5, SONNET, { input_uncached: 1615, output: 106 }),
  ...requests("nightly-job", 3, GPT, { input_uncached: 765, output: 106 }),
  usageRecord({
    tool: "opencode",
    ...SONNET,
    outcome: "cut",
    usage: "partial",
    tokens: tokens({ input_uncached: 1615, output: 1 }),
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
    Date.parse("2026-11-28T12:00:00Z"),
    UTC_CALENDAR,
  );
  const readme = readFileSync(new URL("../../../../README.md", import.meta.url), "utf8");
  const block = /^```\n\$ tollkeeper usage\n([^]*?)\n```$/m.exec(readme)?.[1];
  assert.equal(block, renderedReport(RECORDS, { period }));
});
