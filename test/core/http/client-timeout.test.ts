import assert from "node:assert/strict";
import { test } from "node:test";
import { firstByteLimitMs } from "../../../src/core/http/client-timeout.ts";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";

const limit = (configuredMs: number, ...values: string[]) =>
  firstByteLimitMs(configuredMs, new HeaderIndex(values.flatMap((value) => ["X-Stainless-Timeout", value])));

test("a client that waits longer than SDKs do by default gets the time, up to an hour", () => {
  assert.equal(limit(600_000, "1800"), 1_800_000);
  assert.equal(limit(600_000, "999999999"), 3_600_000);
  assert.equal(limit(5_000, "601"), 601_000);
});

test("the configured limit stays for clients that say nothing, the default of SDKs, less, or no number", () => {
  for (const value of ["600", "5", "0", "-1", "1e9", "1800.5", "", "9999999999"])
    assert.equal(limit(5_000, value), 5_000, value);
  assert.equal(limit(5_000), 5_000);
  assert.equal(limit(7_200_000, "1800"), 7_200_000);
});
