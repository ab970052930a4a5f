import assert from "node:assert/strict";
import { test } from "node:test";
import { BudgetBook } from "../../../src/core/budget/book.ts";
import { standingsOf } from "../../../src/core/budget/standing.ts";
import { NO_STATE } from "../../../src/core/budget/state.ts";
import { familyOf } from "../../../src/core/price/names.ts";
import { formatDecimal, formatMoney } from "../../../src/core/price/money.ts";
import { settingsFor, standingIn } from "../../helpers/budget/budget-book.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const PRICES = priceBook(
  {
    gateway: { baseUrl: "https://gateway.example/v1" },
    anthropic: { baseUrl: "https://api.anthropic.com/v1" },
    contract: { baseUrl: "https://api.anthropic.com/v1", discount: 50 },
    local: { baseUrl: "http://127.0.0.1:11434/v1", auth: "none" },
  },
  { "house-2-mini": { input: 0.7, output: 4 } },
);
const NOW = Date.parse("2026-11-21T12:00:00Z");

test("a family is the words of a name, whatever its version and spelling", () => {
  const cases: [name: string, family: string, line: string][] = [
    ["claude-sonnet-5-5", "claude-sonnet", "claude"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet", "claude"],
    ["anthropic/claude-5.7-sonnet", "claude-sonnet", "claude"],
    ["claude-opus-6@20261201", "claude-opus", "claude"],
    ["gpt-6.1-sol-2026-10-30", "gpt-sol", "gpt"],
    ["ft:gpt-5-mini-2025-08-07:acme::x1", "gpt-mini", "gpt"],
    ["o5-mini", "o-mini", "o"],
    ["models/gemini-5-argon-preview", "gemini-argon", "gemini"],
    ["2026", "", ""],
    ["", "", ""],
  ];
  for (const [name, family, line] of cases) assert.deepEqual(familyOf(name), { family, line }, name);
});

const assumed = (upstream: string, model: string | null, size = 1_000) => {
  const found = PRICES.assumed(upstream, model, { least: size, most: size, at: NOW });
  return [found.input, found.output].map((price) => (price === undefined ? "" : formatDecimal(price)));
};

test("a model without a price is assumed to cost what the dearest of its family does, at its size and time", () => {
  // claude-sonnet-4-5: 3 and 15, above 200 000 tokens 6 and 22.5
  assert.deepEqual(assumed("anthropic", "claude-sonnet-6"), ["3", "15"]);
  assert.deepEqual(assumed("anthropic", "claude-sonnet-6", 200_001), ["6", "22.5"]);
  assert.deepEqual(assumed("gateway", "anthropic/claude-sonnet-6"), ["3", "15"]);
  assert.deepEqual(assumed("contract", "claude-sonnet-6"), ["1.5", "7.5"]);
  // gpt-5.6-sol was 5 and 30 until August, and is 4 and 20
  assert.deepEqual(assumed("gateway", "gpt-7-sol"), ["4", "20"]);
  // Configured prices are those of a model, too.
  assert.deepEqual(assumed("gateway", "house-3-mini"), ["0.7", "4"]);
});

test("without a family its line counts, and without a line the dearest of the upstream", () => {
  assert.deepEqual(assumed("gateway", "grok-9"), ["3", "15"]);
  assert.deepEqual(assumed("gateway", "grok-9-nova"), ["5", "25"]);
  assert.deepEqual(assumed("anthropic", "claude-zeta-6"), ["15", "75"]);
  const dearest = PRICES.dearest("gateway");
  for (const model of ["nobody", null])
    assert.deepEqual(PRICES.assumed("gateway", model, { least: 0, most: 0, at: NOW }), dearest);
  assert.deepEqual(assumed("local", "claude-sonnet-6"), ["", ""]);
});

test("a budget counts an unknown version near its price, and names the model that it assumes one for", () => {
  const settings = settingsFor({ budgets: [{ usd: 500, per: "day" }] }, { prices: PRICES });
  const book = new BudgetBook(settings, NO_STATE, NOW);
  const used = tokens({ input_uncached: 1_000_000, output: 100_000 });
  for (const model of ["claude-sonnet-6", "gpt-7-sol", "claude-sonnet-6", "claude-sonnet-5-5"])
    book.add(usageRecord({ ts: "2026-11-21T11:00:00.000Z", upstream: "gateway", model, tokens: used }));
  const [standing] = standingsOf(book, NOW);
  assert.ok(standing !== undefined);
  const shown = standing.assumedFor.map(([model, amount]) => [model, formatMoney(amount)]);
  // 1M * 6 + 0.1M * 22.5, twice; 1M * 8 + 0.1M * 30
  assert.deepEqual(shown, [
    ["claude-sonnet-6", "16.5"],
    ["gpt-7-sol", "11"],
  ]);
  // claude-sonnet-5-5 is known: 1M * 2 + 0.1M * 10
  assert.equal(formatMoney(standing.spent - standing.assumed), "3");
  const copy = new BudgetBook(settings, NO_STATE, NOW);
  copy.recount(JSON.parse(JSON.stringify(book.encode())) as ReturnType<typeof book.encode>, []);
  assert.deepEqual(standingsOf(copy, NOW)[0]?.assumedFor, standing.assumedFor);
});

test("a request whose tier has no known factor counts at the dearest prices of the upstream, not at those of its family", () => {
  const settings = settingsFor({ budgets: [{ usd: 500, per: "day" }] }, { prices: PRICES });
  const spent = (changes: object) => {
    const book = new BudgetBook(settings, NO_STATE, NOW);
    const used = tokens({ output: 1_000 });
    book.add(
      usageRecord({ ts: "2026-11-21T11:00:00.000Z", upstream: "anthropic", tokens: used, ...changes }),
    );
    return standingIn(book, NOW).spent;
  };
  const unknown = spent({ model: "claude-haiku-6" });
  assert.ok(spent({ model: "claude-haiku-4-5", service_tier: "priority" }) > unknown);
});
