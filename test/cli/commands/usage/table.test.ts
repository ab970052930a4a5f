import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { renderTable, type View } from "../../../../src/cli/commands/usage/table.ts";
import { UTC_CALENDAR } from "../../../../src/core/ledger/calendar.ts";
import type { Grouping } from "../../../../src/core/ledger/grouping.ts";
import { summarise } from "../../../../src/core/ledger/report.ts";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { priceBook } from "../../../helpers/ledger/prices.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const TERMINAL: View = { width: 140, isTerminal: true, isColoured: false, isWide: false };

const spent = (tool: string, input: number, changes: Partial<UsageRecord> = {}) =>
  usageRecord({
    tool,
    model: "gpt-5",
    project: `/home/ada/src/customers/${tool}`,
    tokens: tokens({ input_uncached: input, cache_read: 9 * input, output: input / 10 }),
    ...changes,
  });

const RECORDS = [
  spent("claude-code", 30_000_000),
  spent("codex", 9_000_000),
  spent("opencode", 1_000_000, { usage: "partial" }),
  usageRecord({ tool: "zed", usage: "absent", tokens: null, spend: "never" }),
  usageRecord({ tool: "zed", usage: "absent", tokens: null, spend: "never", outcome: "error", status: 429 }),
];

async function render(view: Partial<View>, by: readonly Grouping[] = ["tool"], records = RECORDS) {
  const sums = summarise(records, { by, calendar: UTC_CALENDAR, prices: priceBook({}), filter: {} });
  return renderTable(by, sums, { ...TERMINAL, ...view }).split("\n");
}

test("a wide terminal shows all usual columns, with each row's share of the cost", async () => {
  assert.deepEqual(await render({}), [
    "tool             cost        share  requests        input  cached     output  partial  unknown  failed",
    "claude-code   $101.25  ████▌   75%         1  300,000,000     90%  3,000,000        0        0       0",
    "codex          $30.38  █▍      23%         1   90,000,000     90%    900,000        0        0       0",
    "opencode       ≥$3.38  ▏        3%         1   10,000,000     90%    100,000        1        0       0",
    "zed           unknown                      1            0                  0        0        1       1",
    "total        ≥$135.00  ██████ 100%         4  400,000,000     90%  4,000,000        1        1       1",
  ]);
});

test("at 80 and at 60 columns, columns are left out and nothing is wrapped", async () => {
  assert.deepEqual(await render({ width: 80 }), [
    "tool             cost        share  requests        input  cached     output",
    "claude-code   $101.25  ████▌   75%         1  300,000,000     90%  3,000,000",
    "codex          $30.38  █▍      23%         1   90,000,000     90%    900,000",
    "opencode       ≥$3.38  ▏        3%         1   10,000,000     90%    100,000",
    "zed           unknown                      1            0                  0",
    "total        ≥$135.00  ██████ 100%         4  400,000,000     90%  4,000,000",
  ]);
  assert.deepEqual(await render({ width: 60 }), [
    "tool             cost  requests        input     output",
    "claude-code   $101.25         1  300,000,000  3,000,000",
    "codex          $30.38         1   90,000,000    900,000",
    "opencode       ≥$3.38         1   10,000,000    100,000",
    "zed           unknown         1            0          0",
    "total        ≥$135.00         4  400,000,000  4,000,000",
  ]);
});

test("no line is longer than the terminal, whatever the names are", async () => {
  for (const width of [60, 66, 72, 80, 100, 140]) {
    for (const by of [["project"], ["project", "tool"], ["model", "project"]] as const) {
      for (const isColoured of [false, true]) {
        const lines = await render({ width, isColoured }, by);
        assert.equal(lines.length, 6, `${width} ${by.join()}: a line for each row`);
        for (const line of lines.map((one) => stripVTControlCharacters(one)))
          assert.ok(line.length <= width, `${width}: ${line}`);
      }
    }
  }
});

test("of a long path the end is shown, of another name the beginning", async () => {
  const records = [
    spent("claude-code", 30_000_000, { model: "a-model-with-a-very-long-name-indeed-20261123" }),
  ];
  const [, row] = await render({ width: 60 }, ["model", "project"], records);
  assert.match(row ?? "", /^a-mode\S*… +…\S*ude-code /);
});

test("a pipe gets no bars, and --wide all columns at any width", async () => {
  const [head] = await render({ isTerminal: false, width: Infinity });
  assert.doesNotMatch(head ?? "", /share/);
  const [wide] = await render({ isWide: true, width: 60 });
  assert.match(wide ?? "", /uncached input +cache read {2}cache write/);
});

test("without any cost there are no shares", async () => {
  const [head] = await render({}, ["tool"], [usageRecord({ model: "nobody-knows" })]);
  assert.doesNotMatch(head ?? "", /share/);
});
