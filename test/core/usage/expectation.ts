import assert from "node:assert/strict";
import type { ExtraTokens, MeterReading, Tokens } from "../../../src/core/usage/reading.ts";
import { grandTotal, maybeUnbilled } from "./totals.ts";
import type { Expected } from "./corpus.ts";

/** Fields of the corpus that a record does not have, or has under another name, with the reason. */
const NOT_COMPARED: Record<string, string> = {
  model: "the model that the response names first; a record has the one that served, which is served_model",
  terminated: "whether message_stop arrived; a record's outcome says what follows from it",
  background: "a record has what follows from it: usage pending, spend by response id",
  lower_bound: "the same as usage partial; compared by its own assertion",
  outcome_also: "another outcome that would be as good",
  optional: "the corpus would accept absent, too",
  count: "the estimate of a token counting route, which a record does not have",
};

/** Words of the corpus for routes without usage, and those of the ledger. */
const OTHER_WORDS: Record<string, Record<string, string>> = {
  outcome: { "n/a": "completed" },
  usage_state: { estimate: "none" },
};

/** Returns a reading under the corpus's names. */
function describe(reading: MeterReading): Expected {
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

/** The corpus's extra sets have only lifetimes that their API has. */
function describeExtra({ output, cache_write_30m, cache_write_12h, ...extra }: ExtraTokens): Expected {
  assert.equal(cache_write_30m + cache_write_12h, 0);
  return { ...extra, output_total: output };
}

/** Asserts that a reading, or the record made of it, is what the corpus expects, except for the tables above. */
export function assertAsExpected(reading: MeterReading, expected: Expected): void {
  const described = describe(reading);
  for (const [name, value] of Object.entries(expected)) {
    if (name in NOT_COMPARED && name !== "lower_bound") continue;
    if (name === "vendor_cost") {
      assert.equal(Number(reading.billed_usd), (value as { amount: number }).amount, name);
      continue;
    }
    if (name === "flags" && expected["outcome"] === "cut") {
      assert.deepEqual(withoutBadJson(reading.flags), withoutBadJson(value as string[]), name);
      continue;
    }
    const word = typeof value === "string" ? OTHER_WORDS[name]?.[value] : undefined;
    assert.deepEqual(described[name], word ?? value, name);
  }
}

/** The corpus leaves it open whether the event in which a connection broke is flagged. */
function withoutBadJson(flags: readonly string[]): string[] {
  return flags.filter((flag) => flag !== "bad_json");
}
