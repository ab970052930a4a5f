import assert from "node:assert/strict";
import type { MeterReading } from "../../../src/core/usage/reading.ts";

/** Asserts what must be true of every reading, whatever was read. */
export function assertInvariants({ tokens, extra, usage, spend, server_tools: made }: MeterReading): void {
  for (const set of [...extra, ...(tokens === null ? [] : [tokens])]) {
    const split = set.cache_write_5m + set.cache_write_1h + set.cache_write_30m + set.cache_write_12h;
    assert.equal(set.cache_write, split + set.cache_write_ttl_unknown);
    for (const value of Object.values(set)) {
      if (typeof value === "number") assert.ok(Number.isSafeInteger(value) && value >= 0, `${value}`);
    }
  }
  assert.equal(tokens === null, usage !== "final" && usage !== "partial");
  // Only what is paid by number counts without tokens.
  if (tokens === null)
    return assert.equal(spend === "count", usage === "none" && Object.keys(made).length > 0);
  assert.equal(tokens.input_total, tokens.input_uncached + tokens.cache_read + tokens.cache_write);
  assert.equal(tokens.total, tokens.input_total + tokens.output);
  assert.ok((tokens.reasoning ?? 0) <= tokens.output);
}
