import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeterReading } from "../../../../src/core/usage/reading.ts";
import { grandTotal, maybeUnbilled } from "../totals.ts";
import { nonZeroCounts, jsonSetup, readBody, readUsages } from "../response-bodies.ts";

function readIterations(iterations: unknown, usage: object = {}): MeterReading {
  const top = { input_tokens: 10, output_tokens: 5, ...usage, iterations };
  return readBody({ type: "message", model: "big", stop_reason: "end_turn", usage: top }, jsonSetup());
}

function split(m5: number, h1: number): object {
  return { cache_creation: { ephemeral_5m_input_tokens: m5, ephemeral_1h_input_tokens: h1 } };
}

test("adds compaction and advisor as extra sets, each with its own model", () => {
  const reading = readIterations([
    { type: "compaction", input_tokens: 100, cache_read_input_tokens: 1000, output_tokens: 20 },
    { type: "message", input_tokens: 10, output_tokens: 5 },
    { type: "advisor_message", model: "huge", input_tokens: 7, output_tokens: 3 },
  ]);
  assert.deepEqual(
    reading.extra.map(({ type, model, input_uncached, cache_read, output, billable }) => [
      type,
      model,
      input_uncached + cache_read + output,
      billable,
    ]),
    [
      ["compaction", null, 1120, true],
      ["advisor_message", "huge", 10, true],
    ],
  );
  assert.equal(grandTotal(reading), 15 + 1120 + 10);
  assert.equal(maybeUnbilled(reading), 0);
});

test("marks every attempt of a fallback chain before the one that served as possibly unbilled", () => {
  const reading = readIterations([
    { type: "message", model: "big", input_tokens: 8, output_tokens: 0 },
    { type: "fallback_message", model: "middle", input_tokens: 9, output_tokens: 1 },
    { type: "fallback_message", model: "small", input_tokens: 10, output_tokens: 5 },
    { type: "message", model: "small", input_tokens: 0, output_tokens: 0 },
  ]);
  assert.equal(reading.model, "small");
  assert.deepEqual(
    reading.extra.map(({ model, billable }) => [model, billable]),
    [
      ["big", null],
      ["middle", null],
    ],
  );
  assert.equal(maybeUnbilled(reading), 18);
});

test("assigns an attempt without a model to the message's model", () => {
  const iterations = [
    { type: "message", input_tokens: 8 },
    { type: "fallback_message", model: "small" },
  ];
  assert.equal(readIterations(iterations).extra.length, 1);
  const usage = { input_tokens: 10, output_tokens: 5, iterations };
  assert.deepEqual(readBody({ model: "small", usage }, jsonSetup()).extra, []);
});

test("flags an iteration of unknown type, and keeps it as possibly unbilled", () => {
  const reading = readIterations([{ type: "dreaming", input_tokens: 6, output_tokens: 1 }]);
  assert.deepEqual(reading.flags, ["unknown_iteration_type"]);
  assert.deepEqual(
    [reading.extra[0]?.type, maybeUnbilled(reading), grandTotal(reading)],
    ["dreaming", 7, 22],
  );
});

test("ignores iterations that are not a list of objects", () => {
  for (const iterations of [null, 7, "x", {}, [null, 3, "y"]]) {
    const reading = readIterations(iterations);
    assert.deepEqual([reading.extra, nonZeroCounts(reading)], [[], { input_uncached: 10, output: 5 }]);
  }
});

test("replaces a stale cache write split by that of the iterations when it adds up to the total", () => {
  const start = { input_tokens: 6, cache_creation_input_tokens: 300, ...split(300, 0), output_tokens: 1 };
  const iterations = [split(300, 0), split(0, 37)].map((written) => ({ type: "message", ...written }));
  const exact = readUsages([start, { cache_creation_input_tokens: 337, output_tokens: 2, iterations }]);
  assert.deepEqual(nonZeroCounts(exact), {
    input_uncached: 6,
    cache_write: 337,
    cache_write_5m: 300,
    cache_write_1h: 37,
    output: 2,
  });
  assert.deepEqual(exact.flags, []);

  const stale = readUsages([start, { cache_creation_input_tokens: 400, output_tokens: 2, iterations }]);
  assert.deepEqual([stale.tokens?.cache_write_5m, stale.tokens?.cache_write_ttl_unknown], [300, 100]);
  assert.deepEqual(stale.flags, ["cache_write_split_stale"]);
});

test("keeps a cache write split that adds up when the iterations have another one", () => {
  const usage = { cache_creation_input_tokens: 40, ...split(30, 10) };
  const { tokens } = readIterations([{ type: "message", ...split(20, 20) }], usage);
  assert.deepEqual([tokens?.cache_write_5m, tokens?.cache_write_1h], [30, 10]);
});

test("drops a cache write split that exceeds the total", () => {
  const reading = readUsages([
    { input_tokens: 1, ...split(30, 20) },
    { cache_creation_input_tokens: 40, output_tokens: 1 },
  ]);
  assert.deepEqual(nonZeroCounts(reading), {
    input_uncached: 1,
    cache_write: 40,
    cache_write_ttl_unknown: 40,
    output: 1,
  });
  assert.deepEqual(reading.flags, ["cache_write_split_exceeds_total"]);
});
