import assert from "node:assert/strict";
import type { ExtraTokens, Reading, Tokens } from "../../../src/core/usage/reading.ts";
import { grandTotal, maybeUnbilled } from "../../../src/core/usage/tokens.ts";
import type { Expected } from "./corpus.ts";

/** What the corpus expects, and a record does not hold, or holds under another name on purpose. */
const NOT_JUDGED: Record<string, string> = {
  model: "the model that the answer names first; a record keeps the one that served, which is served_model",
  terminated: "whether message_stop came; a record's outcome says all that follows from it",
  background: "a record keeps what follows from it: usage pending, spend by response id",
  lower_bound: "the same as usage partial; judged by its own assertion",
  count: "an estimate that a token counting route gave; a record has no place for it",
};

/** The corpus has one word more than the ledger for each: a route without usage has an outcome of its own there. */
const OTHER_WORDS: Record<string, Record<string, string>> = {
  outcome: { "n/a": "completed" },
  usage_state: { estimate: "none" },
};

/** The reading under the corpus's names. */
function describe(reading: Reading): Expected {
  const { tokens } = reading;
  return {
    outcome: reading.outcome,
    stop: reading.stop,
    usage_state: reading.usage,
    spend_rule: reading.spend,
    lower_bound: reading.usage === "partial",
    response_id: reading.response_id,
    served_model: reading.model,
    service_tier: reading.service_tier,
    speed: reading.speed,
    inference_geo: reading.inference_geo,
    error_type: reading.error_type,
    tokens: tokens === null ? null : describeTokens(tokens),
    extra: reading.extra.map(describeExtra),
    grand_total: grandTotal(reading),
    maybe_unbilled: maybeUnbilled(reading),
    server_tools: reading.server_tools,
    raw_usage: reading.raw_usage,
    flags: reading.flags,
  };
}

function describeTokens({ output, ...tokens }: Tokens): Expected {
  return { ...tokens, output_total: output };
}

/** An extra set of the corpus has no lifetimes that its API does not know. */
function describeExtra({ output, cache_write_30m, cache_write_12h, ...extra }: ExtraTokens): Expected {
  assert.equal(cache_write_30m + cache_write_12h, 0);
  return { ...extra, output_total: output };
}

/** Compares a reading, or the record made of it, with what the corpus expects; see the tables above for what differs on purpose. */
export function assertAsExpected(reading: Reading, expected: Expected): void {
  const described = describe(reading);
  for (const [name, value] of Object.entries(expected)) {
    if (name in NOT_JUDGED && name !== "lower_bound") continue;
    const word = typeof value === "string" ? OTHER_WORDS[name]?.[value] : undefined;
    assert.deepEqual(described[name], word ?? value, name);
  }
}
