import assert from "node:assert/strict";
import { test } from "node:test";
import type { BenchResult, TargetResult } from "./result.ts";
import { cpuRatio } from "./verdict.ts";

/** A target with the CPU time of each round and the share of waiting. */
function target(name: string, rounds: [cpuUs: number, waited: number][]): TargetResult {
  const values = rounds.map(([cpuUs]) => cpuUs);
  const cpuUs = { median: 0, min: 0, max: 0, rounds: values, ratioTo: { "http-proxy-3": 0, nginx: 0 } };
  return { target: name, figures: { cpuUs }, trust: rounds.map(([, waited]) => ({ waited, load: 0.3 })) };
}

function resultWith(...targets: TargetResult[]): Pick<BenchResult, "scenarios"> {
  return { scenarios: [{ name: "small16", title: "", figures: [], targets }] };
}

/** The rounds in which code is still compiled. */
const COLD: [number, number][] = [
  [9_000, 0.1],
  [8_000, 0.1],
  [7_000, 0.1],
];

test("the earlier half of the rounds is ignored, and a round in which one of the two targets waited for the CPU", () => {
  const bare = target("http-proxy-3", [...COLD, [100, 0.1], [100, 0.1], [10, 0.7]]);
  const own = target("tollkeeper", [
    ...COLD.map(([cpuUs, waited]): [number, number] => [3 * cpuUs, waited]),
    [80, 0.2],
    [80, 0.2],
    [80, 0.2],
  ]);
  assert.equal(cpuRatio("small16", resultWith(bare, own)), 0.8);
});

test("one undisturbed round is not enough for a verdict", () => {
  const bare = target("http-proxy-3", [...COLD, [100, 0.1], [100, 0.5], [100, 0.5]]);
  const own = target("tollkeeper", [...COLD, [900, 0.2], [900, 0.2], [900, 0.2]]);
  assert.equal(cpuRatio("small16", resultWith(bare, own)), Number.NaN);
});

function unknown(cpuUs: number): [cpuUs: number, waited: number] {
  return [cpuUs, Number.NaN];
}

test("where the system does not tell the time of waiting every later round counts", () => {
  const bare = target("http-proxy-3", [unknown(10), unknown(10), unknown(100), unknown(100)]);
  const own = target("tollkeeper", [unknown(90), unknown(90), unknown(150), unknown(150)]);
  assert.equal(cpuRatio("small16", resultWith(bare, own)), 1.5);
});
