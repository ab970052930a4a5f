import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { COLUMNS, groupOf } from "../../../../src/cli/commands/usage/columns.ts";
import { renderTable, type View } from "../../../../src/cli/commands/usage/table.ts";
import { TERMINAL } from "../../../helpers/ledger/rendered-report.ts";
import { UTC_CALENDAR } from "../../../../src/core/ledger/calendar.ts";
import type { Grouping } from "../../../../src/core/ledger/grouping.ts";
import { summarise } from "../../../../src/core/ledger/report.ts";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { priceBook } from "../../../helpers/ledger/prices.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

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

function renderAll(view: Partial<View>, by: readonly Grouping[] = ["tool"], records = RECORDS) {
  const sums = summarise(records, { by, calendar: UTC_CALENDAR, prices: priceBook({}), filter: {} });
  return renderTable(by, sums, { ...TERMINAL, ...view });
}

const render = (...given: Parameters<typeof renderAll>) => renderAll(...given).text.split("\n");

test("a wide terminal shows all usual columns, with each row's share of the cost", () => {
  assert.deepEqual(render({}), [
    "tool             cost        share  requests     tokens in  from cache  tokens out  partial  uncounted  failed",
    "claude-code   $101.25  ████▌   75%         1   300,000,000         90%   3,000,000        0          0       0",
    "codex          $30.38  █▍      23%         1    90,000,000         90%     900,000        0          0       0",
    "opencode       ≥$3.38  ▏        3%         1   ≥10,000,000         90%    ≥100,000        1          0       0",
    "zed           unknown                      2             –                       –        0          1       1",
    "total        ≥$135.00  ██████ 100%         5  ≥400,000,000         90%  ≥4,000,000        1          1       1",
  ]);
});

test("only nothing is a share of 0 %", () => {
  const rows = render({}, ["tool"], [spent("codex", 10_000_000_000), spent("zed", 10)]);
  assert.match(rows.find((row) => row.startsWith("zed ")) ?? "", /^zed +<\$0\.01 +<1% /);
});

test("at 80 and at 60 columns, columns are left out and named, and nothing is wrapped", () => {
  assert.deepEqual(render({ width: 80 }), [
    "tool             cost        share  requests     tokens in  tokens out",
    "claude-code   $101.25  ████▌   75%         1   300,000,000   3,000,000",
    "codex          $30.38  █▍      23%         1    90,000,000     900,000",
    "opencode       ≥$3.38  ▏        3%         1   ≥10,000,000    ≥100,000",
    "zed           unknown                      2             –           –",
    "total        ≥$135.00  ██████ 100%         5  ≥400,000,000  ≥4,000,000",
  ]);
  assert.deepEqual(render({ width: 60 }), [
    "tool             cost        share  requests     tokens in",
    "claude-code   $101.25  ████▌   75%         1   300,000,000",
    "codex          $30.38  █▍      23%         1    90,000,000",
    "opencode       ≥$3.38  ▏        3%         1   ≥10,000,000",
    "zed           unknown                      2             –",
    "total        ≥$135.00  ██████ 100%         5  ≥400,000,000",
  ]);
  assert.deepEqual(renderAll({ width: 60 }).hidden, [
    "from cache",
    "tokens out",
    "partial",
    "uncounted",
    "failed",
  ]);
  assert.deepEqual(renderAll({ width: 80 }).hidden, ["from cache", "partial", "uncounted", "failed"]);
  assert.deepEqual(renderAll({ width: 60, isWide: true }).hidden, []);
});

const BY_PLAN = { upstream: "plan:claude", key: "plan:claude" };
const PAID = [
  spent("claude-code", 300_000, BY_PLAN),
  spent("codex", 900_000),
  spent("codex", 100_000, BY_PLAN),
  spent("opencode", 100_000),
  spent("cline", 1_000, { ...BY_PLAN, usage: "absent", tokens: null }),
  usageRecord({
    ...BY_PLAN,
    tool: "zed",
    usage: "absent",
    tokens: null,
    spend: "never",
    outcome: "error",
    status: 429,
  }),
];

test("what a plan was worth stays where it is much beside the cost, and else gives way first", () => {
  assert.deepEqual(render({ width: 80 }, ["tool"], PAID), [
    "tool          cost   worth        share  requests    tokens in  tokens out",
    "codex        $3.04   $0.34  █████▍  90%         2   10,000,000     100,000",
    "opencode     $0.34          ▋       10%         1    1,000,000      10,000",
    "claude-code   plan   $1.01                      1    3,000,000      30,000",
    "cline         plan  ≥$0.00                      1            –           –",
    "zed          $0.00                              1            0           0",
    "total        $3.38  ≥$1.35  ██████ 100%         6  ≥14,000,000    ≥140,000",
  ]);
  const [narrow] = render({ width: 60 }, ["tool"], PAID);
  assert.equal(narrow, "tool          cost   worth        share  requests");
  const [little] = render({ width: 80 }, ["tool"], [spent("codex", 90_000_000), ...PAID]);
  assert.doesNotMatch(little ?? "", /worth|paid by/);
  const [whole] = render({ width: 120 }, ["tool"], PAID);
  assert.match(whole ?? "", /worth +paid by +share/);
  const [head = ""] = render({ isWide: true }, ["tool", "account"], PAID);
  assert.doesNotMatch(head, /paid by/);
});

test("what is charged beyond a plan is in the cost, and marked beside it and below", () => {
  const extra = { upstream: "extra:claude", key: "extra:claude/3f2a91c0" };
  const records = [spent("claude-code", 300_000, BY_PLAN), spent("claude-code", 300_000, extra)];
  const [, row] = render({ width: 100 }, ["tool"], records);
  assert.equal(
    row,
    "claude-code  $1.01  $1.01  plan, extra  ██████ 100%         2  6,000,000         90%      60,000",
  );
});

test("no line is longer than the terminal, whatever the names are", () => {
  for (const width of [60, 66, 72, 80, 100, 140]) {
    for (const by of [["project"], ["project", "tool"], ["model", "project"]] as const) {
      for (const isColoured of [false, true]) {
        const lines = render({ width, isColoured }, by);
        assert.equal(lines.length, 6, `${width} ${by.join()}: a line for each row`);
        for (const line of lines.map((one) => stripVTControlCharacters(one)))
          assert.ok(line.length <= width, `${width}: ${line}`);
      }
    }
  }
});

test("of a long path the last whole parts are shown, or its end, and of a model both ends", () => {
  const records = [
    spent("claude-code", 30_000_000, { model: "a-model-with-a-very-long-name-indeed-20261123" }),
  ];
  const [, row] = render({ width: 60 }, ["model", "project"], records);
  assert.match(row ?? "", /^a-model-\S*…\S*20261123 +…\/customers\/claude-code /);
  const [, last] = render({ width: 60 }, ["project"], [spent("a-name-without-any-end-".repeat(3), 10)]);
  assert.match(last ?? "", /^…\S*without-any-end- /);
});

test("the home directory is written as a tilde, and a row without a name says what it has none of", () => {
  const records = [spent("codex", 10), usageRecord({ project: null })];
  const [, first, second] = render({}, ["project"], records);
  assert.match(second ?? "", /^~\/src\/customers\/codex /);
  assert.match(first ?? "", /^\(no project\) /);
});

/** The cells of the one row of a wide table, by their headings: they end where these end. */
function cells(...records: UsageRecord[]) {
  const [head = "", row = ""] = render({ isWide: true, isTerminal: false }, ["tool"], records);
  const heads = [...head.matchAll(/(?<= {2})\S+(?: \S+)*/g)].map(([name], at) => ({ name, at }));
  const ends = [...head.matchAll(/\S(?= {2}|$)/g)].map(({ index }) => index + 1);
  return Object.fromEntries(
    heads.map(({ name, at }) => [
      name,
      row
        .slice(ends[at], ends[at + 1])
        .split("  ")
        .at(-1)
        ?.trim(),
    ]),
  );
}

test("what is not known is a dash, and what is counted in part has a sign", () => {
  const cached = tokens({ cache_read: 1000, output: 5, reasoning: null });
  const billed = cells(usageRecord({ tokens: cached, billed_usd: "0.5" }));
  assert.deepEqual([billed["reported"], billed["saved"], billed["reasoning"]], ["$0.5000", "–", "–"]);
  const priced = cells(usageRecord({ tokens: tokens({ input_uncached: 1_000_000 }) }));
  assert.deepEqual([priced["cost"], priced["saved"], priced["tokens in"]], ["$1.25", "$0.00", "1,000,000"]);
  const uncounted = cells(usageRecord({ usage: "absent", tokens: null, spend: "never" }));
  for (const name of ["tokens in", "cache read", "saved", "tokens out"])
    assert.equal(uncounted[name], "–", name);
  assert.equal(uncounted["cost"], "unknown");
  const counted = tokens({ input_uncached: 7, output: 3, reasoning: 2 });
  const partial = cells(usageRecord({ usage: "partial", tokens: counted }));
  for (const name of ["tokens in", "uncached", "cache read", "tokens out", "reasoning"])
    assert.match(partial[name] ?? "", /^≥\d/, name);
});

test("a pipe gets no bars, and --wide all columns at any width, in tables one below the other", () => {
  const [head] = render({ isTerminal: false, width: Infinity });
  assert.doesNotMatch(head ?? "", /share/);
  const all = head?.split(/ {2,}/) ?? [];
  for (const width of [60, 80, 120, 200, 240]) {
    const lines = render({ isWide: true, width });
    for (const line of lines) assert.ok(line.length <= width, `${width}: ${line}`);
    const heads = lines.filter((line) => line.startsWith("tool ")).flatMap((line) => line.split(/ {2,}/));
    for (const name of [...all, "uncached", "cache read", "cache write", "first token", "slowest 5%"])
      assert.ok(heads.includes(name), `${width}: ${name}`);
    assert.equal(
      lines.filter((line) => line.startsWith("claude-code ")).length,
      lines.filter((line) => line.startsWith("total ")).length,
    );
  }
});

test("--wide begins with what most want to know, and says above the headings what the others are about", () => {
  assert.deepEqual(render({ isWide: true, width: 240 }).slice(0, 3), [
    "             overview ────────────────────────────────────────────────────────────  money ─  requests ─────────────────  input ────────────────────────────────  speed ─────────────────",
    "tool             cost        share  requests     tokens in  from cache  tokens out    saved  failed  partial  uncounted     uncached    cache read  cache write  first token  slowest 5%",
    "claude-code   $101.25  ████▌   75%         1   300,000,000         90%   3,000,000  $303.75       0        0          0   30,000,000   270,000,000            0       200 ms      200 ms",
  ]);
  for (const column of COLUMNS) assert.notEqual(groupOf(column), "", column.head);
});

test("columns about the same stay together in a table of --wide, if they fit into one", () => {
  const { pages, headLines } = renderAll({ isWide: true, width: 80 });
  assert.equal(headLines, 2);
  assert.deepEqual(
    pages.map((page) => page.split("\n")[0]?.replaceAll(/ ─+/g, "").trim()),
    ["overview", "overview  money  requests", "input  speed"],
  );
});

test("without any cost there are no shares", () => {
  const [head] = render({}, ["tool"], [usageRecord({ model: "nobody-knows" })]);
  assert.doesNotMatch(head ?? "", /share/);
});
