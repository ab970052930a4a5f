// A batch is many requests: it is reserved for by the sum of what each may spend, at the price of a batch, and has to fit as a whole.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { BatchPart } from "../../../src/core/budget/budget-request.ts";
import { BudgetBook } from "../../../src/core/budget/book.ts";
import { boundRequest } from "../../../src/core/budget/estimate.ts";
import { keepReservation } from "../../../src/core/budget/kept-reservation.ts";
import { spentBy } from "../../../src/core/budget/spent.ts";
import { NO_STATE } from "../../../src/core/budget/state.ts";
import { BatchReader } from "../../../src/core/policy/batch-reader.ts";
import { describeRefusal } from "../../../src/core/refusals/budgets.ts";
import { bookFor, budgetRequest, settingsFor, standingIn } from "../../helpers/budget/budget-book.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { extraTokens, tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const NOW = Date.parse("2026-11-21T11:30:00Z");
const PRICES = priceBook({ default: { baseUrl: "https://api.anthropic.com/v1" } });

const partOf = (changes: Partial<BatchPart> = {}): BatchPart => ({
  model: "claude-haiku-4-5",
  input: 1_000_000,
  output: 100_000,
  longest: 10_000,
  cachesLong: false,
  speed: null,
  geo: null,
  ...changes,
});

/** A batch as `BatchReader` sizes it. */
function batchOf(...parts: BatchPart[]) {
  const sum = (name: "input" | "output") => parts.reduce((total, part) => total + part[name], 0);
  return budgetRequest({
    model: new Set(parts.map(({ model }) => model)).size === 1 ? (parts[0]?.model ?? null) : null,
    input: sum("input"),
    output: sum("output"),
    cachesLong: parts.some(({ cachesLong }) => cachesLong),
    tier: "batch",
    parts,
  });
}

const usd = (dollars: string) => BigInt(Math.round(Number(dollars) * 1e6)) * 10n ** 24n;

test("the bound of a batch is the sum over its requests, at half the price", () => {
  const bound = boundRequest(batchOf(partOf()), PRICES, NOW);
  // Claude Haiku 4.5 costs 1.25 dollars to write to the cache, and 5 of output.
  assert.deepEqual([bound.input.usd, bound.output.usd], [usd("0.625"), usd("0.25")]);
  const both = boundRequest(batchOf(partOf(), partOf({ model: "claude-sonnet-4-5" })), PRICES, NOW);
  assert.deepEqual([both.input.usd, both.output.usd], [usd("2.5"), usd("1")]);
  assert.deepEqual([both.input.tokens.all, both.output.tokens.all], [2_000_000, 200_000]);
});

const inputCost = (part: BatchPart) => boundRequest(batchOf(part), PRICES, NOW).input.usd;

test("only prompts that are long cost the long-context price, and a batch has more tokens than one prompt", () => {
  const short = partOf({ model: "claude-sonnet-4-5", input: 10_000_000, longest: 200_000, output: 0 });
  const long = { ...short, longest: 200_001 };
  assert.deepEqual([inputCost(short), inputCost(long)], [usd("18.75"), usd("37.5")]);
});

test("a batch that may spend more than is left is refused, although single requests still go", () => {
  const book = new BudgetBook(
    settingsFor({ budgets: [{ usd: 1, per: "day" }] }, { prices: PRICES }),
    NO_STATE,
    NOW,
  );
  assert.equal(book.judge(batchOf(partOf()), NOW), null);
  const refused = book.judge(batchOf(partOf(), partOf()), NOW);
  assert.ok(refused !== null);
  const settings = settingsFor({ budgets: [] });
  const { problem, reason, advice, command } = describeRefusal(refused, NOW, settings);
  assert.deepEqual(
    [problem, reason, advice, command],
    [
      "a budget has no room for the batch",
      "$1.00 per day for all tools together; $0.00 spent; the batch may spend $1.75",
      "split it, or lift the budget",
      "tollkeeper budget lift codex --for 1h",
    ],
  );
  book.reserve(batchOf(partOf()), NOW);
  assert.equal(book.judge(budgetRequest({ model: "claude-haiku-4-5" }), NOW), null);
  assert.notEqual(book.judge(batchOf(partOf()), NOW), null);
});

test("what is usual for a tool's single requests says nothing of a batch", () => {
  const book = bookFor({ budgets: [{ tokens: 10_000_000, per: "day" }] }, NOW);
  for (let count = 0; count < 10; count += 1) {
    const { reservation } = book.reserve(budgetRequest(), NOW);
    book.settle(reservation, usageRecord({ model: "plain", tokens: tokens({ output: 1 }) }), NOW);
  }
  book.reserve(batchOf(partOf()), NOW);
  assert.equal(standingIn(book, NOW).reserved, 1_100_000n);
});

// Claude Sonnet 4.5 costs 3 and 15 dollars, and above 200,000 tokens of input 6 and 22.50; a batch is half of it.
test("once its results are fetched, a batch counts what they cost, each prompt by its own size", () => {
  const book = new BudgetBook(
    settingsFor({ budgets: [{ usd: 10, per: "day" }] }, { prices: PRICES }),
    NO_STATE,
    NOW,
  );
  const batch = {
    upstream: "default",
    response_id: "msgbatch_1",
    service_tier: "batch",
    spend: "attach_by_response_id",
  } as const;
  const created = usageRecord({
    ...batch,
    route: "/messages/batches",
    usage: "pending",
    tokens: null,
    reserved_input: 900_000,
    reserved_output: 200_000,
  });
  const { reservation } = book.reserve(batchOf(partOf({ model: "claude-sonnet-4-5" })), NOW);
  book.settle(reservation, created, NOW);
  const large = extraTokens({
    type: "batch",
    model: "claude-sonnet-4-5",
    billable: true,
    input_uncached: 500_000,
    output: 10_000,
    smallest_prompt: 240_000,
    largest_prompt: 260_000,
  });
  const results = usageRecord({
    ...batch,
    route: "/messages/batches/{id}/results",
    method: "GET",
    model: "claude-sonnet-4-5",
    flags: ["summed"],
    tokens: tokens({ input_uncached: 400_000, output: 20_000 }),
    smallest_prompt: 150_000,
    largest_prompt: 199_000,
    extra: [large],
  });
  book.settle(null, results, NOW);
  const { spent, assumed, reserved } = standingIn(book, NOW);
  // 400,000 * 1.50 + 20,000 * 7.50 + 500,000 * 3 + 10,000 * 11.25
  assert.deepEqual([spent, assumed, reserved], [usd("2.3625"), 0n, 0n]);
});

const part = fc
  .record({
    model: fc.constantFrom("claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-8", "nobody"),
    input: fc.integer({ min: 0, max: 5_000_000 }),
    output: fc.integer({ min: 1, max: 500_000 }),
    longest: fc.constantFrom(1, 10_000, 200_001),
    cachesLong: fc.boolean(),
    speed: fc.constantFrom(null, null, "fast"),
    geo: fc.constantFrom(null, null, "us"),
  })
  .map((one) => ({ ...one, longest: Math.min(one.longest, one.input) }));

test("until its results are fetched, a batch counts at least as much as was reserved for it", () => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
      const request = { ...batchOf(...parts), speed: single(parts, "speed"), geo: single(parts, "geo") };
      const { input, output, inputClass } = boundRequest(request, PRICES, NOW);
      const record = usageRecord({
        model: null,
        model_requested: request.model,
        service_tier: "batch",
        usage: "pending",
        tokens: null,
      });
      const reserved = { input: input.tokens.input, output: output.tokens.output, inputClass };
      const kept = { ...record, ...keepReservation(record, reserved, request, request.model) };
      const { known, assumed } = spentBy({ record: kept, source: kept }, PRICES);
      assert.ok(known.usd + assumed.usd >= input.usd + output.usd);
    }),
  );
});

const single = (parts: readonly BatchPart[], name: "speed" | "geo") =>
  parts.map((one) => one[name]).find((value) => value !== null) ?? null;

test("a batch of 100,000 requests is bounded at once", () => {
  const reader = new BatchReader(["*"]);
  reader.feed(Buffer.from('{"requests":['));
  for (let n = 0; n < 100_000; n += 1) {
    const text = "x".repeat(n % 500);
    reader.feed(
      Buffer.from(
        `${n === 0 ? "" : ","}{"custom_id":"${n}","params":{"model":"claude-haiku-4-5","max_tokens":9,"system":"${text}"}}`,
      ),
    );
  }
  reader.feed(Buffer.from("]}"));
  assert.equal(reader.finish(), null);
  const { parts, output } = reader.size;
  assert.equal(output, 900_000);
  assert.ok(parts !== null && parts.length < 10, String(parts?.length));
});
