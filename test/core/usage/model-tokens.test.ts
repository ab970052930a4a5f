// A batch has several sets of tokens of one model. Rows and exports show them as one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { describeRecord } from "../../../src/cli/commands/live/request-row.ts";
import { describeExchange } from "../../../src/core/export/describe-exchange.ts";
import { tokensOfModel } from "../../../src/core/usage/batch/model-tokens.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { extraTokens, tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const setOf = (type: string, model: string) =>
  extraTokens({ type, model, billable: true, input_uncached: 300_000, cache_read: 100_000, output: 70 });

const BATCH = usageRecord({
  upstream: "anthropic",
  model: "claude-sonnet-4-5",
  tokens: tokens({ input_uncached: 10, cache_write: 5, output: 3, reasoning: 2 }),
  extra: [
    setOf("batch", "claude-sonnet-4-5"),
    setOf("batch", "claude-haiku-5-5"),
    setOf("compaction", "claude-sonnet-4-5"),
  ],
});

test("the tokens of a model are those of all sets of a batch for it", () => {
  assert.deepEqual(tokensOfModel(BATCH), {
    input_total: 400_015,
    cache_read: 100_000,
    cache_write: 5,
    output: 73,
    reasoning: null,
  });
  const single = { ...BATCH, extra: [] };
  assert.deepEqual(tokensOfModel(single), {
    input_total: 15,
    cache_read: 0,
    cache_write: 5,
    output: 3,
    reasoning: 2,
  });
  assert.equal(tokensOfModel({ ...BATCH, tokens: null }), null);
});

test("a row of tail and an exported record have them", () => {
  const { input, output } = describeRecord(BATCH, priceBook({}));
  assert.deepEqual([input, output], ["400,015", "73"]);
  const { attributes } = describeExchange(BATCH);
  assert.deepEqual(
    [attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"]],
    [400_015, 73],
  );
});
