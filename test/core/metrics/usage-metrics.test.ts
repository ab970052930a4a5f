import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { zonedCalendar } from "../../../src/core/ledger/calendar.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { summarise } from "../../../src/core/ledger/report.ts";
import { classify, isBackground } from "../../../src/core/ledger/spend.ts";
import { UsageMetrics } from "../../../src/core/metrics/usage-metrics.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import { PRICES, pricedRecord } from "../../helpers/ledger/priced-record.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const UTC = zonedCalendar("UTC");

function metricsOf(records: readonly UsageRecord[], metrics = new UsageMetrics()): UsageMetrics {
  for (const record of records) metrics.add(record, PRICES);
  return metrics;
}

/** The sums of all series. */
function totals({ series, sandbox }: UsageMetrics) {
  const sum = (valueOf: (one: (typeof series)[number]) => number) =>
    series.reduce((total, one) => total + valueOf(one), 0);
  const { input, output, cache_read, cache_write, maybe_unbilled } = {
    input: sum(({ counts }) => counts.input),
    output: sum(({ counts }) => counts.output),
    cache_read: sum(({ counts }) => counts.cache_read),
    cache_write: sum(({ counts }) => counts.cache_write),
    maybe_unbilled: sum(({ counts }) => counts.maybe_unbilled),
  };
  const requests = (countedAs: string) =>
    sum(({ requests: all }) =>
      [...all.all()].reduce(
        (total, { attributes, count }) =>
          total + (attributes["tollkeeper.counted_as"] === countedAs ? count : 0),
        0,
      ),
    );
  return {
    requests: requests("request"),
    failed: requests("failed"),
    sandbox: [...sandbox.values()].reduce((total, count) => total + count, 0),
    input,
    output,
    cache_read,
    cache_write,
    maybe_unbilled,
    absent: sum(({ counts }) => counts.absent),
    partial: sum(({ counts }) => counts.partial),
    unknown: sum(({ counts }) => counts.unknown),
    cost: formatMoney(series.reduce((total, { cost }) => total + cost, 0n)),
    isExact: sum(({ counts }) => counts.lower_bound + counts.unpriced + counts.unknown) === 0,
  };
}

/** What a report says of the same records. */
function reported(records: readonly UsageRecord[]) {
  const question = { by: ["tool"] as const, calendar: UTC, prices: PRICES, filter: {} };
  const { total, sandbox } = summarise(records, question);
  const { sums, cost } = total;
  return {
    requests: sums.requests,
    failed: sums.failed,
    sandbox: sandbox.total.sums.requests + sandbox.total.sums.failed,
    input: sums.input_uncached + sums.cache_read + sums.cache_write,
    output: sums.output,
    cache_read: sums.cache_read,
    cache_write: sums.cache_write,
    maybe_unbilled: sums.maybe_unbilled,
    absent: sums.absent,
    partial: sums.partial,
    unknown: cost.unknown,
    cost: formatMoney(cost.amount),
    isExact: cost.isExact,
  };
}

/** Requests that end in every way. */
const ended = fc.record({
  outcome: fc.constantFrom("completed", "completed", "cut", "error", "rejected"),
  status: fc.constantFrom(200, 429, 529, null),
  stream: fc.constantFrom(true, false, null),
  tool: fc.constantFrom("codex", "claude-code"),
});
const plain = fc.tuple(pricedRecord, ended).map(([record, changes]) => ({ ...record, ...changes }));

test("what is counted is what a report says, to the last digit of the cost", () => {
  fc.assert(
    fc.property(fc.array(plain, { maxLength: 30 }), (records) => {
      assert.deepEqual(totals(metricsOf(records)), reported(records));
    }),
    { numRuns: 300 },
  );
});

test("a state that is encoded, stored as JSON and restored between any two records counts on exactly", () => {
  fc.assert(
    fc.property(fc.array(plain, { maxLength: 20 }), fc.nat(20), (records, cut) => {
      const stored = JSON.stringify(metricsOf(records.slice(0, cut)).encode());
      const restored = metricsOf(records.slice(cut), new UsageMetrics(JSON.parse(stored) as never));
      assert.deepEqual(restored.encode(), metricsOf(records).encode());
    }),
    { numRuns: 200 },
  );
});

/** Creations of background responses, and fetches of them, each at most once for a response. */
const background = fc
  .uniqueArray(fc.tuple(fc.nat(8), fc.boolean(), fc.constantFrom("final", "pending")), {
    maxLength: 16,
    selector: ([id, isFetch]) => `${id} ${isFetch}`,
  })
  .map((drawn) =>
    drawn.map(([id, isFetch, usage]) =>
      usageRecord({
        upstream: "openai",
        model: "gpt-5.4",
        response_id: `resp_${id}`,
        spend: "attach_by_response_id",
        ...(isFetch ? { method: "GET", route: "/responses/{id}" } : {}),
        usage,
        tokens: usage === "final" ? tokens({ input_uncached: 100 + id, output: 7 }) : null,
        outcome: usage === "final" ? "completed" : "queued",
      }),
    ),
  );

/** Without the requests that may still get their usage: a counter cannot take back that it is unknown. */
function withoutWaiting(records: readonly UsageRecord[]): UsageRecord[] {
  const fetched = records.filter((one) => classify(one) === "fetch" && isBackground(one, "fetch"));
  return records.filter(
    (one) =>
      classify(one) === "fetch" ||
      one.usage === "final" ||
      fetched.some(({ response_id: id }) => id === one.response_id),
  );
}

test("a background response counts once, with the usage that a fetch brings, in whichever order they come", () => {
  fc.assert(
    fc.property(background, fc.nat(16), (records, cut) => {
      const stored = metricsOf(records.slice(0, cut)).encode();
      const metrics = metricsOf(records.slice(cut), new UsageMetrics(stored));
      const { requests: _all, ...counted } = totals(metrics);
      const { requests: _some, ...expected } = reported(withoutWaiting(records));
      assert.deepEqual(counted, expected);
      assert.equal(totals(metrics).requests, reported(records).requests);
    }),
    { numRuns: 500 },
  );
});

test("of many background responses that are never fetched, the oldest count as unknown, and none twice", () => {
  const created = Array.from({ length: 500 }, (_, at) =>
    usageRecord({ response_id: `r${at}`, spend: "attach_by_response_id", usage: "pending", tokens: null }),
  );
  const { requests, absent, unknown } = totals(metricsOf(created));
  assert.deepEqual([requests, absent, unknown], [500, 300, 300]);
});

test("the copy of a record that a crash leaves does not count", () => {
  const records = [usageRecord(), usageRecord()];
  const metrics = metricsOf([...records, ...records]);
  assert.equal(totals(metrics).requests, 2);
  assert.equal(totals(metricsOf(records, new UsageMetrics(metrics.encode()))).requests, 2);
});

test("a response by another model counts for that model, under the name that was requested", () => {
  const metrics = metricsOf([usageRecord({ model_requested: "gpt-5", model: "gpt-5-2026" })]);
  assert.deepEqual(
    metrics.series.map(({ attributes }) => attributes),
    [
      {
        "tollkeeper.tool": "codex",
        "tollkeeper.upstream": "default",
        "tollkeeper.api": "responses",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.response.model": "gpt-5-2026",
      },
    ],
  );
});

test("durations have what reached an upstream, and times to the first chunk the streams among it", () => {
  const metrics = metricsOf([
    usageRecord({ duration_ms: 640, ttft_ms: 10.001 }),
    usageRecord({ duration_ms: 700_000, ttft_ms: 90_000, stream: false }),
    usageRecord({ duration_ms: 5, outcome: "error", status: 429, tokens: null, ttft_ms: 4 }),
    usageRecord({ duration_ms: 5, outcome: "rejected", status: 400, tokens: null }),
    usageRecord({ duration_ms: 5, route: "/models", method: "GET", spend: "never", usage: "none" }),
  ]);
  const shown = metrics.times.map(({ names, duration, firstChunk }) => [
    names.error,
    duration.count,
    duration.value().sum,
    firstChunk.count,
    firstChunk.value().sum,
  ]);
  assert.deepEqual(shown, [
    [null, 2, 700.64, 1, 0.010001],
    ["429", 1, 0.005, 0, 0],
  ]);
  const { bounds, counts } = metrics.times[0]?.duration.value() ?? { bounds: [], counts: [] };
  assert.deepEqual([counts[(bounds as number[]).indexOf(0.64)], counts.at(-1)], [1, 1]);
});
