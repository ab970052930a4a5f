import assert from "node:assert/strict";
import { test } from "node:test";
import type { Metric } from "../../../src/core/metrics/metric.ts";
import { chooseFormat, prometheusName, writeMetrics } from "../../../src/core/metrics/prometheus-text.ts";

const METRICS: Metric[] = [
  {
    name: "gen_ai.client.inference.usage.input_tokens",
    kind: "counter",
    unit: "{token}",
    help: 'A "quoted" back\\slash.',
    points: [
      { attributes: { "tollkeeper.tool": 'a"b\\c\nd' }, more: { "error.type": "429" }, value: 3 },
      { attributes: {}, value: "0.000000000000000000000000000001" },
    ],
  },
  {
    name: "tollkeeper.duration",
    kind: "histogram",
    unit: "s",
    help: "Times.",
    points: [
      { attributes: { api: "x" }, value: { bounds: [0.5, 2], counts: [1, 2, 3], count: 6, sum: 9.25 } },
    ],
  },
  { name: "tollkeeper.empty", kind: "gauge", unit: "", help: "Nothing.", points: [] },
  {
    name: "tollkeeper.build",
    kind: "info",
    unit: "",
    help: "Build.",
    points: [{ attributes: {}, value: 1 }],
  },
];

const write = (format: "text" | "openmetrics") => [...writeMetrics(METRICS, format)].join("");

test("writes Prometheus' format 0.0.4", () => {
  assert.equal(
    write("text"),
    String.raw`# HELP gen_ai_client_inference_usage_input_tokens_total A "quoted" back\\slash.
# TYPE gen_ai_client_inference_usage_input_tokens_total counter
gen_ai_client_inference_usage_input_tokens_total{tollkeeper_tool="a\"b\\c\nd",error_type="429"} 3
gen_ai_client_inference_usage_input_tokens_total 0.000000000000000000000000000001
# HELP tollkeeper_duration_seconds Times.
# TYPE tollkeeper_duration_seconds histogram
tollkeeper_duration_seconds_bucket{api="x",le="0.5"} 1
tollkeeper_duration_seconds_bucket{api="x",le="2.0"} 3
tollkeeper_duration_seconds_bucket{api="x",le="+Inf"} 6
tollkeeper_duration_seconds_sum{api="x"} 9.25
tollkeeper_duration_seconds_count{api="x"} 6
# HELP tollkeeper_build_info Build.
# TYPE tollkeeper_build_info gauge
tollkeeper_build_info 1
`,
  );
});

test("writes OpenMetrics 1.0: families without suffixes, units, and an end", () => {
  const text = write("openmetrics");
  assert.match(
    text,
    /^# TYPE gen_ai_client_inference_usage_input_tokens counter\n# HELP gen_ai_client_inference_usage_input_tokens A \\"quoted\\" back\\\\slash\.\n/,
  );
  assert.match(
    text,
    /# TYPE tollkeeper_duration_seconds histogram\n# UNIT tollkeeper_duration_seconds seconds\n/,
  );
  assert.match(
    text,
    /# TYPE tollkeeper_build info\n# HELP tollkeeper_build Build\.\ntollkeeper_build_info 1\n# EOF\n$/,
  );
});

test("takes OpenMetrics where it is asked for, as Prometheus does", () => {
  const prometheus =
    "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
  assert.equal(chooseFormat(prometheus), "openmetrics");
  assert.deepEqual(
    [chooseFormat("*/*"), chooseFormat(undefined), chooseFormat("text/html")],
    ["text", "text", "text"],
  );
});

test("a unit is named once", () => {
  assert.equal(prometheusName({ name: "tollkeeper.uptime_seconds", unit: "s" }), "tollkeeper_uptime_seconds");
  assert.equal(prometheusName({ name: "tollkeeper.memory", unit: "By" }), "tollkeeper_memory_bytes");
});
