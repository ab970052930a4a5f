// What the text report says below its table: it has the words and the numbers of the columns.
import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { describeUnpriced } from "../../../../src/cli/commands/usage/sentences.ts";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { priceTable } from "../../../helpers/ledger/prices.ts";
import { renderedReport as rendered } from "../../../helpers/ledger/rendered-report.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const COST = `Cost: pay-per-use list prices of ${priceTable.asOf} (${priceTable.source}). An estimate, not a bill.`;
const FAILED = { usage: "absent", tokens: null, spend: "never", outcome: "error", status: 429 } as const;

const many = (count: number, changes: Partial<UsageRecord> = {}) =>
  Array.from({ length: count }, () =>
    usageRecord({ tokens: tokens({ input_uncached: 100_000 }), ...changes }),
  );

/** What a pipe gets, where everything is said in sentences. */
const renderedReport = (...[records, view]: Parameters<typeof rendered>) =>
  rendered(records, { isTerminal: false, ...view });

/** The lines below the table. */
const below = (report: string) => report.split("\n\n").slice(2).join("\n").split("\n");

/** Sentences are wrapped to the width of a terminal. */
const unwrapped = (text: string) => text.replaceAll(/\n(?![A-Z≥])/g, " ");

const isCommand = (line: string) => line.startsWith("  ");

/** A ledger with one of everything. */
const MIXED = [
  ...many(1200),
  ...many(40, { outcome: "cut", usage: "partial", cut_by: "client" }),
  ...many(23, { tool: "aider", route: "/chat/completions", usage: "absent", tokens: null, spend: "never" }),
  ...many(43, FAILED),
  ...many(2, { model: "nobody-knows" }),
  ...many(7, { billed_usd: "0.123456" }),
];

test("where every request is exact, there are two lines", () => {
  assert.equal(
    unwrapped(below(renderedReport(many(3))).join("\n")),
    `Tokens: all counts are exact.\n${COST}`,
  );
});

test("all requests are counted, and the sentences say what they are made of", () => {
  const report = renderedReport(MIXED);
  const [, , head = ""] = report.split("\n");
  const total = /^total .*$/m.exec(report)?.[0].split(/ {2,}/) ?? [];
  const cellOf = (name: string) => Number(total[head.split(/ {2,}/).indexOf(name)]?.replaceAll(/[≥,]/g, ""));
  assert.equal(cellOf("requests"), 1315);
  assert.equal(cellOf("failed"), 43);
  assert.match(
    report,
    /^Of 1,315 requests: 43 failed \(3\.3%\), at no cost; 40 were cut short \(3\.0%\)\.\sTo see how, use\s--by outcome\./m,
  );
  assert.match(
    report,
    /^Tokens: exact for 1,209 of 1,272 requests that used any; 40 partial [^;]*;\s23\suncounted /m,
  );
});

test("the cost that the provider reported is written as in its column", () => {
  const wide = renderedReport(MIXED, { isWide: true });
  const reported = /^Cost: (\S+) as reported by the provider, the rest at pay-per-use/m.exec(wide)?.[1];
  assert.equal(reported, "$0.86");
  assert.match(wide, /^total .* \$0\.86 .*$/m);
});

test("at no width is a line of prose longer than the terminal, or a command broken", () => {
  for (const width of [60, 80, 140]) {
    const report = renderedReport(MIXED, { width });
    const lines = report.split("\n").map((line) => stripVTControlCharacters(line));
    for (const line of lines.filter((one) => !isCommand(one)))
      assert.ok(line.length <= width, `${width}: ${line}`);
    for (const line of below(report).filter((one) => !isCommand(one))) assert.ok(line.length <= 100, line);
    assert.ok(
      lines.some((line) => /^ {2}\S.* connect aider --model MODEL$/.test(line)),
      String(width),
    );
    assert.ok(
      lines.some((line) => /^ {2}\S.* config edit$/.test(line)),
      String(width),
    );
  }
});

test("columns for which there is no room are named, with the option that shows them", () => {
  const [narrow = "", wide = ""] = [60, 140].map((width) =>
    renderedReport(MIXED, { width }).replaceAll("\n", " "),
  );
  const hidden = "Hidden at this width: from cache, partial, uncounted, failed.";
  assert.ok(narrow.includes(`${hidden} To see all columns, add --wide.`), narrow);
  assert.ok(!wide.includes("Hidden"));
});

const others = (lines: readonly string[]) =>
  lines.map((line) => line.replace(/(?:^| · )more columns: --wide$/, "")).filter((line) => line !== "");

test("at a terminal there are two lines: facts, and what to type", () => {
  const [facts, advice = ""] = below(rendered(MIXED, { width: 240 }));
  assert.deepEqual(
    [facts, advice.replace(/no price: .* prices/, "no price: tollkeeper prices")],
    [
      `≥ means at least: 40 partial, 23 uncounted, 2 unpriced · estimate at list prices of ${priceTable.asOf}`,
      "43 failed (3.3%): --by outcome · more columns: --wide · no price: tollkeeper prices nobody-knows",
    ],
  );
  assert.deepEqual(others(below(rendered(many(3)))), [`estimate at list prices of ${priceTable.asOf}`]);
  assert.deepEqual(others(below(rendered(many(2, FAILED)))), ["2 failed (100%): --by outcome"]);
  assert.deepEqual(others(below(rendered(many(2, FAILED), { by: ["outcome"] }))), ["2 failed (100%)"]);
});

test("at no width do these lines wrap, and what has no room is left out whole", () => {
  for (let width = 60; width <= 240; width += 1) {
    const lines = below(rendered(MIXED, { width })).slice(0, 2);
    for (const line of lines) {
      assert.ok(line.length <= width, `${width}: ${line}`);
      assert.doesNotMatch(line, /…|·$/);
    }
  }
});

test("a model's name cannot control the terminal from these lines", () => {
  const [, advice = ""] = below(rendered(many(2, { model: "\u001b[2J\u202eevil" }), { width: 240 }));
  assert.match(advice, /no price: .*\\u001b\[2J/);
  assert.doesNotMatch(advice, /[\p{Cc}\p{Bidi_Control}]/u);
});

test("with requests that failed only, nothing is said of tokens and cost", () => {
  assert.deepEqual(below(renderedReport(many(2, FAILED))), [
    "Of 2 requests: 2 failed (100%), at no cost. To see how, use --by outcome.",
  ]);
});

test("how requests failed is not asked again where the rows say it", () => {
  assert.deepEqual(below(renderedReport(many(2, FAILED), { by: ["tool", "outcome"] })), [
    "Of 2 requests: 2 failed (100%), at no cost.",
  ]);
});

test("with models without a price only, the report says how to set one, and of no other price", () => {
  const report = renderedReport(many(2, { model: "nobody-knows" }));
  assert.match(report, /^total +unpriced /m);
  assert.deepEqual(below(report).slice(0, 2), [
    "Tokens: all counts are exact.",
    "The cost leaves out what has no known price: nobody-knows in 2 requests. To set prices, add them",
  ]);
  assert.ok(!report.includes("list prices"));
});

test("with the sandbox only, there is one table, and the title says that its tokens are made up", () => {
  const report = renderedReport(many(2, { upstream: "sandbox" }));
  assert.match(
    report,
    /^Sandbox usage by tool, 2026-11-23 \(UTC\)\. Its tokens are made up and cost nothing\.\n\ntool /,
  );
  assert.equal(report.split("\n\n").length, 2);
});

test("own prices are mentioned where they were used, and only then", () => {
  const house = {
    baseUrl: "https://house.example/v1",
    keySource: { file: "/k" },
    prices: { "h-*": { input: 2 } },
  };
  const own = many(1, { upstream: "house", model: "h-1" });
  const sentence = (records: UsageRecord[]) =>
    /^Cost: .*$/m.exec(unwrapped(renderedReport(records, { upstreams: { house } })))?.[0];
  assert.equal(sentence(own), "Cost: your own prices. An estimate, not a bill.");
  assert.match(sentence([...own, ...many(1)]) ?? "", /^Cost: pay-per-use .*\) and your own prices\./);
  assert.equal(sentence(many(1)), COST);
});

test("a lower bound that no count explains is explained", () => {
  const write = tokens({ cache_write: 100_000 });
  const records = many(1, {
    model: "claude-sonnet-5",
    route: "/messages",
    tokens: { ...write, cache_write_5m: 0, cache_write_ttl_unknown: 100_000 },
  });
  const report = renderedReport(records);
  assert.match(report, /^total +≥\$/m);
  assert.match(
    report,
    /^Tokens: all counts are exact\. ≥ means at least: some responses left out what their price/m,
  );
});

const REFUSED = { ...FAILED, outcome: "rejected", status: 400, error_type: "budget_spent" } as const;

test("what failed midway counts as failed, and is not said to cost nothing", () => {
  const midway = many(2, { outcome: "error", status: 200 });
  assert.match(
    renderedReport([...many(17), ...midway, ...many(1, { outcome: "failed", status: 200 })]),
    /^Of 20 requests: 3 failed \(15%\)\. To see how, use --by outcome\.$/m,
  );
  const both = [...many(16), ...midway, ...many(2, FAILED)];
  assert.match(
    renderedReport(both),
    /^Of 20 requests: 4 failed \(20%\), 2 of them at no cost\. To see how, use --by outcome\.$/m,
  );
  assert.match(rendered(both), /4 failed \(20%\): --by outcome/);
});

test("what tollkeeper refused is counted apart from what failed", () => {
  const records = [...many(16), ...many(3, FAILED), ...many(1, REFUSED)];
  const report = renderedReport(records);
  const [, , head = "", row = ""] = report.split("\n");
  assert.match(head, / {2}refused {2}failed$/);
  assert.match(row, / 1 {6,8}3$/);
  assert.match(
    unwrapped(below(report).join("\n")),
    /^Of 20 requests: 3 failed \(15%\), at no cost; tollkeeper refused 1 \(5\.0%\)\. To see how, use --by outcome\.$/m,
  );
  assert.match(rendered(records), /1 refused \(5\.0%\), 3 failed \(15%\): --by outcome/);
  assert.doesNotMatch(renderedReport([...many(1), ...many(2, FAILED)]), /refused/i);
  assert.doesNotMatch(renderedReport([...many(1), ...many(2, REFUSED)]), /failed/i);
});

test("outcomes have the words of other reports, and each row its requests", () => {
  const cut = { outcome: "cut", usage: "partial", cut_by: "client" } as const;
  const report = rendered([...many(4), ...many(3, FAILED), ...many(2, cut), ...many(1, REFUSED)], {
    by: ["outcome"],
  });
  const [head, ...rows] = report.split("\n").slice(2, 8);
  assert.doesNotMatch(head ?? "", /refused|failed/);
  for (const [name, count] of [
    ["completed", " 4 "],
    ["failed", " 3 "],
    ["refused", " 1 "],
    ["total", " 10 "],
  ] as const)
    assert.ok(rows.find((row) => row.startsWith(name))?.includes(count), `${name}\n${report}`);
});

test("of two groupings the first name and its sum head the rows that share it", () => {
  const records = [...many(2), ...many(1, { tool: "zed" }), ...many(1, { model: "gpt-5-mini" })];
  const rows = rendered(records, { by: ["tool", "model"] })
    .split("\n")
    .slice(3, 8);
  const [first = ""] = rows;
  assert.match(first, /^\S+ +\$/);
  assert.equal(rows.filter((row) => row.startsWith(" ")).length, 2);
  assert.match(rendered(records, { by: ["tool", "model"], isTerminal: false }), /^(\S+) .*\n\1 /m);
});

const heads = (text: string) =>
  new Set(
    text
      .split("\n")
      .filter((line) => /^tool {2}/.test(line))
      .flatMap((line) => line.split(/ {2,}/)),
  ).size;

test("more columns are announced where --wide adds some", () => {
  const nothing = [usageRecord({ tokens: null, usage: "none", stream: false, ttft_ms: null })];
  for (const records of [MIXED, nothing]) {
    const all = heads(rendered(records, { width: 240, isWide: true }));
    const report = rendered(records, { width: 240 });
    assert.equal(report.includes("more columns: --wide"), heads(report) < all, report);
  }
});

test("columns that gave way are said at any width, before what has no price", () => {
  for (let width = 60; width <= 240; width += 1) {
    const report = rendered(MIXED, { width });
    const isWhole = report.includes("uncounted ") && report.includes("partial  ");
    if (!isWhole) assert.match(report, /more columns: --wide/, String(width));
  }
});

test("a report by hour has a row for hours without requests", () => {
  const period = {
    since: Date.parse("2026-11-29"),
    until: Date.parse("2026-11-29T16:00Z"),
    title: "2026-11-29",
  };
  const records = ["09", "10", "12"].flatMap((hour) => many(1, { ts: `2026-11-29T${hour}:30:00.000Z` }));
  const lines = rendered(records, { by: ["hour"], period })
    .split("\n")
    .slice(3, 9);
  assert.deepEqual(
    lines.map((line) => line.split(/ {2,}/)[0]),
    ["3 idle hours", "12:00", "1 idle hour", "10:00", "09:00", "9 idle hours"],
  );
  assert.ok(
    rendered(records, { by: ["hour"], period, isColoured: true }).includes("\u001b[2m1 idle hour\u001b[0m"),
  );
  assert.doesNotMatch(rendered(records, { by: ["day"], period }), /idle/);
});

const unpricedPart = (model: string, what: string, requests: number) => ({ model, what, requests });

test("a model is named once with all that has no price of it, by the titles of classes", () => {
  const unpriced = [
    unpricedPart("embed-1", "cache_read", 23),
    unpricedPart("house", "model", 40),
    unpricedPart("embed-1", "output", 20),
  ];
  assert.match(
    describeUnpriced({ unpriced }) ?? "",
    /: house in 40 requests, embed-1 \(cache read\) in 23 requests and \(output\) in 20 requests\. /,
  );
});
