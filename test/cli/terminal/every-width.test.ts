import * as fc from "fast-check";
import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { formatBudgets, budgetRow, describeAssumed } from "../../../src/cli/budget/format-budgets.ts";
import {
  columnsOf,
  describeRecord,
  describeRunningRequest,
  RUNNING_COLUMNS,
} from "../../../src/cli/commands/live/request-row.ts";
import { renderTop } from "../../../src/cli/commands/live/top-frame.ts";
import { renderModels } from "../../../src/cli/commands/models/usable-models.ts";
import { groupRow, holdRow, keyRow, limitRow, upstreamRow } from "../../../src/cli/commands/status/rows.ts";
import { formatLimits } from "../../../src/cli/limits/format-limits.ts";
import { layOutFacts, type Fact } from "../../../src/cli/terminal/facts.ts";
import { fillColumns, rowLines } from "../../../src/cli/terminal/fixed-columns.ts";
import { layOutProse } from "../../../src/cli/terminal/prose.ts";
import { widthOf } from "../../../src/cli/terminal/width.ts";
import type { BudgetStatus } from "../../../src/core/budget/budget-status.ts";
import { GROUPINGS, type Grouping } from "../../../src/core/ledger/grouping.ts";
import { RecentActivity } from "../../../src/core/ledger/recent-activity.ts";
import { describeRunning } from "../../../src/core/ledger/running-request.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import type { WindowStatus } from "../../../src/core/limits/account-limits.ts";
import { PRICES } from "../../helpers/ledger/priced-record.ts";
import { renderedReport } from "../../helpers/ledger/rendered-report.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const NOW = Date.parse("2026-11-24T12:00:00Z");
const WIDTHS = [60, 61, 66, 72, 79, 80, 81, 90, 100, 119, 120, 140, 160, 200, 240];

const word = (most: number) => fc.stringMatching(new RegExp(`^[a-z][a-z0-9-]{0,${most - 1}}$`));
const path = fc
  .array(word(16), { minLength: 1, maxLength: 6 })
  .map((parts) => `/home/ada/${parts.join("/")}`);
const tool = word(30);
const model = fc.oneof(
  word(48),
  fc.tuple(word(12), word(30)).map((parts) => parts.join("/")),
);
const amount = fc.bigInt({ min: 0n, max: 10n ** 14n });
const time = fc
  .integer({ min: -90 * 86_400, max: 90 * 86_400 })
  .map((s) => new Date(NOW + s * 1000).toISOString());
const past = fc.integer({ min: 0, max: 90 * 86_400 }).map((s) => new Date(NOW - s * 1000).toISOString());

const record: fc.Arbitrary<UsageRecord> = fc
  .record({
    tool,
    model,
    project: fc.option(path),
    branch: fc.option(
      fc.oneof(
        word(40),
        fc.tuple(word(9), word(20)).map((parts) => parts.join("/")),
      ),
    ),
    session: fc.option(fc.uuid()),
    ts: past,
    outcome: fc.constantFrom("completed", "cut", "error", "rejected", "incomplete"),
    usage: fc.constantFrom("final", "partial", "absent"),
    error_type: fc.option(word(24)),
    status: fc.constantFrom(200, 429, 529),
    upstream: fc.constantFrom("default", "plan:claude", "own:openai/3f2a91c0"),
    input: fc.nat({ max: 10 ** 10 }),
    output: fc.nat({ max: 10 ** 8 }),
  })
  .map(({ input, output, usage, ...fields }) =>
    usageRecord({
      ...fields,
      usage,
      tokens: usage === "absent" ? null : tokens({ input_uncached: input, cache_read: input, output }),
    }),
  );

const budget: fc.Arbitrary<BudgetStatus> = fc
  .record({
    scope: fc.oneof(
      fc.constant({ kind: "all" as const }),
      fc.record({ kind: fc.constantFrom("tool" as const, "group" as const), name: tool }),
      fc.record({ kind: fc.constant("project" as const), name: path }),
    ),
    limit: fc.constantFrom(
      { usd: true },
      { tokens: 5, class: "output" as const },
      { tokens: 5, class: null },
    ),
    window: fc.oneof(
      fc.record({ per: fc.constantFrom("hour" as const, "day" as const, "week" as const, "month" as const) }),
      fc.record({ rolling: fc.integer({ min: 1, max: 744 }) }),
    ),
    action: fc.constantFrom("warn" as const, "refuse" as const),
    sums: fc.array(amount, { minLength: 5, maxLength: 5 }),
    percent: fc.nat({ max: 5_000 }),
    assumedFor: fc.array(fc.tuple(model, fc.nat({ max: 900 })), { maxLength: 6 }),
    opensAt: fc.option(time),
    spentAt: fc.option(time),
    until: time,
    isLocked: fc.boolean(),
    isWhole: fc.boolean(),
  })
  .map(({ sums, assumedFor, limit, ...fields }) => {
    const write = (at: number) => {
      const value = sums[at] ?? 0n;
      return "usd" in limit ? `${value / 10n ** 9n}.${String(value % 100n).padStart(2, "0")}` : String(value);
    };
    return {
      id: "budget",
      warn: [0.8],
      unpriced: "assume",
      notify: false,
      since: new Date(NOW).toISOString(),
      ...fields,
      limit,
      amount: write(0),
      spent: write(1),
      assumed: write(2),
      reserved: write(3),
      perHour: write(4),
      assumedFor: assumedFor.map(([name, usd]) => ({ model: name, amount: String(usd) })),
    } as unknown as BudgetStatus;
  });

const limitWindow: fc.Arbitrary<WindowStatus> = fc.record({
  window: fc.constantFrom(
    "5h",
    "7d",
    "7d overage-included",
    "requests",
    "priority-output-tokens",
    "retry",
    "30min codex_other",
  ),
  state: fc.constantFrom("seen" as const, "reset" as const),
  usedPercent: fc.option(fc.double({ min: 0, max: 250, noNaN: true })),
  limit: fc.option(fc.nat({ max: 10 ** 9 })),
  remaining: fc.option(fc.nat({ max: 10 ** 9 })),
  resetsAt: fc.option(time),
  seenAt: past,
});
const account = fc.oneof(
  word(20),
  word(8).map((name) => `plan:${name}/3f2a91c0`),
);

/** No line is wider than the terminal, but a command that is to be copied. */
function assertFits(lines: readonly string[], width: number): void {
  for (const line of lines.map((one) => stripVTControlCharacters(one)))
    assert.ok(widthOf(line) <= width || /^ *(?:tollkeeper|node \S+) /.test(line), `${width}: ${line}`);
}

/** Each word is one of the texts'; those that gave way say so, and a path goes on behind a slash. */
function assertWhole(lines: readonly string[], whole: string): void {
  const words = new Set(whole.split(/\s+/));
  for (const found of lines
    .map((one) => stripVTControlCharacters(one))
    .join(" ")
    .split(/\s+/)) {
    const part = found.replaceAll(/^…|…$/g, "");
    const isPart =
      whole.includes(part) && (found !== part || part.endsWith("/") || whole.includes(`/${part}`));
    assert.ok(words.has(found) || isPart, `"${found}" is a broken word:\n${lines.join("\n")}`);
  }
}

/** Asserts both of what is rendered at each width. */
function assertAtEachWidth(render: (width: number) => readonly string[]): void {
  const whole = stripVTControlCharacters(render(Infinity).join("\n"));
  for (const width of WIDTHS) {
    const lines = render(width).flatMap((text) => text.split("\n"));
    assertFits(lines, width);
    assertWhole(lines, whole);
  }
}

const RUNS = { numRuns: 25, endOnFailure: true };
const view = (width: number) => ({ width, isColoured: true });

test("usage: at each width a row is a line, and no word is broken", () => {
  const by = fc.uniqueArray(fc.constantFrom(...GROUPINGS), {
    minLength: 1,
    maxLength: 2,
  });
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 8 }), by, (records, groupings: Grouping[]) => {
      for (const width of [60, 67, 80, 100, 140, 240]) {
        const text = renderedReport(records, { by: groupings, width, isColoured: true });
        assertFits(text.split("\n"), width);
      }
    }),
    { numRuns: 10, endOnFailure: true },
  );
});

// What is assumed is a column where there is room, else a line below.
const isBelow = (line: string) => /^ *of it \S+ assumed$/.test(stripVTControlCharacters(line));

test("budget and its lines in status", () => {
  fc.assert(
    fc.property(fc.array(budget, { minLength: 1, maxLength: 5 }), (budgets) => {
      assertAtEachWidth((width) => {
        const lines = formatBudgets(budgets, NOW, view(width)).split("\n");
        assertFits(lines.filter(isBelow), width);
        return lines.filter((line) => !isBelow(line));
      });
      assertAtEachWidth((width) => layOutProse(describeAssumed(budgets), width).split("\n"));
      const facts = budgets.map((one): Fact => ["budget", "", "plain", budgetRow(one, NOW)]);
      for (const width of WIDTHS) assertFits(layOutFacts(facts, width, true), width);
    }),
    RUNS,
  );
});

test("at 60 columns a budget's tool is whole, and what is left stays longer than the bar", () => {
  const [sample = assert.fail()] = fc.sample(budget, { numRuns: 1, seed: 1 });
  const one: BudgetStatus = {
    ...sample,
    scope: { kind: "tool", name: "claude-code" },
    limit: { usd: 25 },
    window: { per: "month" },
    amount: "25",
    spent: "12.50",
    percent: 50,
  };
  assert.match(formatBudgets([one], NOW, { width: 60, isColoured: false }), /^claude-code .* \$12\.50\b/m);
  const facts: Fact[] = [["budget", "", "plain", budgetRow({ ...one, percent: 120 }, NOW)]];
  assert.match(layOutFacts(facts, 60, false).join("\n"), /^budget +claude-code +\$25\.00 per month/);
});

test("how much of a budget's figure is assumed is in its row or below it, once it warns", () => {
  const [sample = assert.fail()] = fc.sample(budget, { numRuns: 1, seed: 1 });
  const one: BudgetStatus = { ...sample, limit: { usd: 25 }, amount: "25", spent: "30", assumed: "12.50" };
  const shown = (percent: number, width: number) =>
    formatBudgets([{ ...one, percent }], NOW, { width, isColoured: false });
  for (const width of WIDTHS) {
    const isColumn = /\bassumed\b.*\n/.test(shown(10, width));
    assert.equal(shown(120, width).split("$12.50").length, 2, String(width));
    assert.equal(shown(120, width).includes("\n  of it $12.50 assumed"), !isColumn, String(width));
    assert.ok(isColumn || !shown(10, width).includes("$12.50"));
  }
  const facts: Fact[] = [["budget", "", "plain", budgetRow({ ...one, percent: 120 }, NOW)]];
  assert.match(layOutFacts(facts, 60, false).join("\n"), /of it \$12\.50 assumed/);
});

test("limits and their lines in status", () => {
  const windows = fc.array(limitWindow, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(fc.record({ account, windows }), { minLength: 1, maxLength: 3 }), (accounts) => {
      const shown = accounts.map((one) => ({
        ...one,
        windows: one.windows.map((each) => ({
          ...each,
          below: [{ by: "tool", names: ["claude-code 81%", "nightly-batch-summariser 19%", "3 more 0%"] }],
        })),
      }));
      assertAtEachWidth((width) => formatLimits(shown, NOW, view(width)).split("\n"));
      const facts = accounts.flatMap(({ account: name, windows: [first] }): Fact[] =>
        first === undefined ? [] : [["limit", "", "plain", limitRow(name, first, NOW)]],
      );
      for (const width of WIDTHS) assertFits(layOutFacts(facts, width, true), width);
    }),
    RUNS,
  );
});

const AGE = () => "47 min ago";

test("the other lines of status", () => {
  const upstream = fc.record({
    name: word(30),
    baseUrl: word(40).map((host) => `https://${host}.example.com/v1`),
    lastExchange: fc.option(
      fc.record({ at: past, outcome: fc.constantFrom("completed", "rejected"), status: fc.constant(429) }),
    ),
    reason: fc.array(word(18), { minLength: 1, maxLength: 20 }).map((words) => words.join(" ")),
  });
  const other = fc.record({
    name: tool,
    account,
    at: time,
    path,
    models: fc.array(word(24), { maxLength: 5 }),
  });
  fc.assert(
    fc.property(fc.array(upstream, { minLength: 1, maxLength: 3 }), other, (upstreams, one) => {
      const named = {
        name: one.name,
        kind: "tool" as const,
        keep: 10,
        account: one.account,
        window: "5h",
        leftPercent: 4.25,
      };
      const hold = { ...named, resetsAt: one.at, lift: `tollkeeper brake remove ${one.name}` };
      const group = { name: one.name, models: one.models, tools: [one.name] } as unknown as Parameters<
        typeof groupRow
      >[0];
      const key = {
        name: one.name,
        upstream: one.account,
        state: "unavailable",
        source: `file ${one.path}`,
      } as Parameters<typeof keyRow>[0];
      const facts: Fact[] = [
        ...upstreams.flatMap(({ reason, ...each }): Fact[] => {
          const status = { ...each, failing: null } as unknown as Parameters<typeof upstreamRow>[0];
          return [
            ["upstream", "", "plain", upstreamRow(status, each.baseUrl, AGE)],
            ["", reason, "failure"],
          ];
        }),
        ["group", "", "plain", groupRow(group)],
        ["health", "1 budget refuses, 2 brakes wait, 3 upstreams have no list of models", "warning"],
        ["waits", "", "plain", holdRow(hold, NOW, false)],
        ["waits", "", "plain", holdRow(hold, NOW)],
        ["key", "", "plain", keyRow(key, ", 3 min ago; last available 47 min ago")],
        ["config", `${one.path}, read 3 min ago`],
      ];
      for (const width of WIDTHS) assertFits(layOutFacts(facts, width, true), width);
    }),
    RUNS,
  );
});

test("models", () => {
  const usable = fc.record({
    id: model,
    upstream: fc.option(word(24)),
    contextWindow: fc.option(fc.nat({ max: 10 ** 7 })),
    prices: fc.constantFrom(null, "free" as const),
  });
  fc.assert(
    fc.property(fc.array(usable, { minLength: 1, maxLength: 6 }), (models) => {
      for (const width of WIDTHS) assertFits(renderModels(models, view(width)).split("\n"), width);
    }),
    RUNS,
  );
});

test("tail keeps the reason whole, and names where there is room", () => {
  fc.assert(
    fc.property(record, (one) => {
      const row = describeRecord(one, PRICES);
      for (const hasDays of [false, true])
        for (const areReasonsAsked of [false, true])
          for (const width of WIDTHS) {
            const columns = columnsOf({ hasDays, areReasonsAsked }, width);
            const lines = rowLines(fillColumns(columns, width), width, row);
            assertFits(lines, width);
            const text = lines.join(" ").replaceAll(/ +/g, " ");
            const said = areReasonsAsked ? row.reason : row.ending;
            assert.ok(text.includes(said) || (row.isUsual && width < 100), lines.join("\n"));
            assert.ok(areReasonsAsked || text.includes(row.cost), lines.join("\n"));
            // Its beginning can be typed, but where a day and a model leave no room.
            assert.ok(
              text.includes(` ${row.id} `) || (hasDays && !areReasonsAsked && width < 80),
              lines.join("\n"),
            );
          }
      const narrow = columnsOf({ hasDays: true, areReasonsAsked: false }, 60);
      assert.ok(fillColumns(narrow, 60).some(({ head }) => head === "model"));
      const all = columnsOf({ hasDays: false, areReasonsAsked: false }, 240);
      const [widest = ""] = rowLines(fillColumns(all, 240), 240, row);
      assert.ok(
        widest.includes(one.tool.slice(0, 28)) && widest.includes((one.model ?? "").slice(0, 47)),
        widest,
      );
      const running = describeRunningRequest(describeRunning(one));
      for (const width of WIDTHS)
        assertFits(rowLines(fillColumns(RUNNING_COLUMNS, width), width, running), width);
    }),
    RUNS,
  );
});

for (const [output, expected] of [
  [1, "<$0.0001"],
  [100, "$0.0010"],
  [1_000_000, "$10.0000"],
  [200_000_000, "$2,000.00"],
] as const)
  test(`tail writes a cost in at most nine characters: ${expected}`, () => {
    const row = describeRecord(usageRecord({ model: "gpt-5", tokens: tokens({ output }) }), PRICES);
    assert.equal(row.cost, expected);
  });

test("top has every account's limits in whole parts", () => {
  const accounts = fc.array(
    fc.record({ account: word(16), windows: fc.array(limitWindow, { minLength: 1, maxLength: 3 }) }),
    {
      maxLength: 2,
    },
  );
  fc.assert(
    fc.property(fc.array(record, { maxLength: 6 }), accounts, (records, limits) => {
      const activity = new RecentActivity(PRICES);
      for (const one of records) activity.add(one);
      const running = records.map((one) => describeRunning(one));
      const state = {
        address: "127.0.0.1:8655",
        now: NOW,
        ...activity.summarise(NOW, running),
        running,
        runningTotal: running.length,
        limits,
        notice: null,
        sorting: "cost" as const,
        filter: "",
        footer: "q: quit   s: sort by cost   /: filter   p: pause",
        isWrong: false,
      };
      for (const columns of WIDTHS) {
        const lines = renderTop(state, { columns, rows: 40, isColoured: true });
        assertFits(lines, columns);
        const [, , limited = "", more = ""] = lines.map((line) => stripVTControlCharacters(line));
        if (columns >= 80 && limited.startsWith("limits used")) assert.doesNotMatch(limited + more, /…/);
      }
    }),
    RUNS,
  );
});
