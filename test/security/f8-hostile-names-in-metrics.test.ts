// F8, names in metrics: whatever tools and models are called, no line of a scrape can be forged or broken, and only so many are told apart.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { describeUsage } from "../../src/core/metrics/describe-usage.ts";
import { writeMetrics, type TextFormat } from "../../src/core/metrics/prometheus-text.ts";
import { UsageMetrics } from "../../src/core/metrics/usage-metrics.ts";
import { PRICES } from "../helpers/ledger/priced-record.ts";
import { extraTokens, usageRecord } from "../helpers/ledger/usage-record.ts";

const FORMATS: readonly TextFormat[] = ["text", "openmetrics"];

/** A line of both formats, by their grammars: no control character, no unescaped quotation mark or backslash in a label. */
const LABEL = String.raw`[a-zA-Z_]\w*="(?:[^"\\\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|\\[\\"n])*"`;
const NUMBER = String.raw`\d+(?:\.\d+)?(?:e[+-]?\d+)?`;
const SAMPLE = new RegExp(String.raw`^[a-zA-Z_:]\w*(?:\{${LABEL}(?:,${LABEL})*\})? ${NUMBER}$`, "u");
const COMMENT = /^# (?:(?:HELP|TYPE|UNIT) [a-zA-Z_]\w* [ -~]+|EOF)$/;

function textOf(records: readonly UsageRecord[], format: TextFormat): string {
  const metrics = new UsageMetrics();
  for (const record of records) metrics.add(record, PRICES);
  return [...writeMetrics(describeUsage(metrics), format)].join("");
}

const HOSTILE = [
  'x"} 1\ntollkeeper_cost_usd_total 999',
  "back\\slash\\",
  "\\",
  '"',
  "line\r\nbreak\u2028and\u2029others",
  "nul\u0000 and escape \u001b[31m",
  "lone \ud800 surrogate \udfff",
  "cut in a pair ".padEnd(127, "x") + "😀",
  "x".repeat(65_536),
  "\u202eright to left",
  "{}=,# HELP",
  "__proto__",
  "",
];

const name = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "binary" }));

test("no name breaks a line or adds one, in either format", () => {
  fc.assert(
    fc.property(name, name, name, (tool, model, upstream) => {
      const extra = [extraTokens({ type: "message", model: tool, billable: true, output: 1 })];
      const record = usageRecord({ tool, model, model_requested: upstream, upstream, route: tool, extra });
      for (const format of FORMATS) {
        const text = textOf([record, usageRecord({ tool, upstream: "sandbox" })], format);
        assert.ok(text.endsWith("\n"));
        for (const line of text.slice(0, -1).split("\n"))
          assert.match(line, line.startsWith("#") ? COMMENT : SAMPLE);
        assert.equal(text, Buffer.from(text).toString());
        assert.ok(text.length < 40_000);
      }
    }),
    { numRuns: 300 },
  );
});

test("names that differ in what is escaped stay apart, and those that differ after 128 characters do not", () => {
  const tools = ["a\nb", "a\\nb", "a b", `${"y".repeat(128)}1`, `${"y".repeat(128)}2`];
  const metrics = new UsageMetrics();
  for (const tool of tools) metrics.add(usageRecord({ tool }), PRICES);
  assert.equal(new Set(metrics.series.map(({ names }) => names.tool)).size, 4);
});

test("only the first 200 tools and models have names, and of their combinations so many as a scrape can hold", () => {
  const metrics = new UsageMetrics();
  const count = 100_000;
  for (let at = 0; at < count; at += 1)
    metrics.add(
      usageRecord({ tool: `t${at % 311}`, model_requested: `m${at % 307}`, model: `s${at % 313}` }),
      PRICES,
    );
  const seen = (valueOf: (one: (typeof metrics.series)[number]["names"]) => string | null) =>
    new Set(metrics.series.map(({ names }) => valueOf(names)));
  const models = new Set([...seen(({ requested }) => requested), ...seen(({ served }) => served)]);
  assert.deepEqual([seen(({ tool }) => tool).size, models.size], [201, 201]);
  assert.ok(metrics.series.length <= 2_001 && metrics.times.length <= 501);
  const requests = metrics.series.flatMap(({ requests: all }) => [...all.all()].map((one) => one.count));
  assert.equal(
    requests.reduce((sum, one) => sum + one, 0),
    count,
  );
  assert.ok(JSON.stringify(metrics.encode()).length < 2_000_000);
});

test("the names of upstreams are bounded likewise, and so is what a state restores", () => {
  const metrics = new UsageMetrics();
  for (let at = 0; at < 1_000; at += 1)
    metrics.add(usageRecord({ upstream: `u${at}`, upstream_request_id: null }), PRICES);
  const restored = new UsageMetrics(metrics.encode());
  for (let at = 1_000; at < 2_000; at += 1) restored.add(usageRecord({ upstream: `u${at}` }), PRICES);
  assert.equal(new Set(restored.series.map(({ names }) => names.upstream)).size, 201);
});
