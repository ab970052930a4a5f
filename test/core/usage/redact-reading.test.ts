import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "../../../src/core/secrets/secret.ts";
import type { MeterReading } from "../../../src/core/usage/reading.ts";
import { redactData, redactReading } from "../../../src/core/usage/redact-reading.ts";
import { createReading } from "../../../src/core/usage/usage-format.ts";
import { extraTokens } from "../../helpers/ledger/usage-record.ts";

test("redacts strings and names of data, but no numbers, even for a key of digits", () => {
  const data = { model: "12345678", usage: { input: 123_456_789, "12345678": ["x12345678"] }, none: null };
  assert.deepEqual(redactData(data, new Secret("12345678")), {
    model: "********",
    usage: { input: 123_456_789, "********": ["x********"] },
    none: null,
  });
});

test("redacts the fields of a reading that come from the upstream, and no others", () => {
  const reading: MeterReading = {
    ...createReading("completed", "final"),
    spend: "count",
    model: "completed",
    raw_usage: { completed: "in completed" },
    extra: [
      extraTokens({ type: "completed", model: "completed", billable: true }),
      extraTokens({
        type: "batch",
        model: null,
        billable: true,
        speed: "completed",
        inference_geo: "completed",
      }),
    ],
    server_tools: { completed: 1 },
  };
  const redacted = redactReading(reading, new Secret("completed"));
  const stars = "*".repeat(9);
  assert.deepEqual(redacted, {
    ...reading,
    model: stars,
    raw_usage: { [stars]: `in ${stars}` },
    extra: [
      extraTokens({ type: stars, model: stars, billable: true }),
      extraTokens({ type: "batch", model: null, billable: true, speed: stars, inference_geo: stars }),
    ],
    server_tools: { [stars]: 1 },
  });
});
