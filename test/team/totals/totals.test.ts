// `npm run team -- --totals` does the same for longer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { noPrometheus } from "../../helpers/prometheus/prometheus.ts";
import { renderTotals } from "./render-totals.ts";
import { runTotals } from "./run-totals.ts";

test(
  "ledger, dashboard, Prometheus and OTLP have the same totals after each of their processes was killed",
  { skip: noPrometheus, timeout: 300_000 },
  async (t) => {
    const report = await runTotals(t, {
      requests: 60,
      rounds: 1,
      seed: "npm test",
      say: (text) => t.diagnostic(text),
    });
    for (const line of renderTotals(report)) t.diagnostic(line);
    assert.deepEqual(report.faults, []);
  },
);
