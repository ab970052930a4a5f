import assert from "node:assert/strict";
import { test } from "node:test";
import { renderComparison } from "./comparison.ts";
import type { BenchResult, FigureResult, ScenarioResult } from "./result.ts";

const NONE = { "http-proxy-3": Number.NaN, nginx: Number.NaN };
const figure = (median: number): FigureResult => ({
  median,
  min: median,
  max: median,
  rounds: [median],
  ratioTo: NONE,
});

function scenario(name: string, byTarget: Record<string, Record<string, number>>): ScenarioResult {
  const targets = Object.entries(byTarget).map(([target, values]) => ({
    target,
    figures: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, figure(value)])),
    trust: [null],
  }));
  return { name, title: "", figures: [], targets };
}

const RESULT: BenchResult = {
  machine: { cpu: "AMD EPYC", cores: 2, kernel: "Linux 6.18", node: "v20.20.2" },
  placement: "",
  rounds: 3,
  versions: {
    direct: "",
    nginx: "1.22.1",
    tollkeeper: "0.1.0",
    "tollkeeper-in-group": "0.1.0",
    portkey: "1.15.2",
  },
  scenarios: [
    scenario("small1", {
      nginx: { cpuUs: 63.6, addedUs: 127 },
      tollkeeper: { cpuUs: 290.2, addedUs: 264 },
      portkey: { cpuUs: 16_400, addedUs: 805 },
    }),
    scenario("firehose", { nginx: { cpuUs: 0.31 }, tollkeeper: { cpuUs: 1.38 } }),
    scenario("start", { nginx: { startMs: 11, idleMb: 15 }, tollkeeper: { startMs: 139.6, idleMb: 59.4 } }),
  ],
  far: null,
  meter: [],
  webSocket: null,
  sessions: null,
  faults: [],
};

test("the comparison has what was measured, with units, the date and the versions, and no column for our variants", () => {
  assert.deepEqual(renderComparison(RESULT, new Date("2026-11-24T10:00:00Z")), [
    "",
    "Measured on 2026-11-24: nginx 1.22.1, tollkeeper 0.1.0, portkey 1.15.2; Node 20.20.2, Linux 6.18, AMD EPYC;",
    "medians of 3 interleaved rounds.",
    "",
    "|                                                   |        nginx |    tollkeeper | portkey |",
    "| ------------------------------------------------- | -----------: | ------------: | ------: |",
    "| processor time per small request, 1 connection    |        64 µs |        290 µs |   16 ms |",
    "| time added to a small request, 1 connection (p50) |       127 µs |        264 µs |  805 µs |",
    "| processor time per event of a fast stream         |       0.3 µs |        1.4 µs |       – |",
    "| start to first response; memory then              | 11 ms; 15 MB | 140 ms; 59 MB |    –; – |",
  ]);
});

test("without something to compare with there is no comparison", () => {
  assert.deepEqual(renderComparison({ ...RESULT, versions: { tollkeeper: "0.1.0" } }, new Date()), []);
});
