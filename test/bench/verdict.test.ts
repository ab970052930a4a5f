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

test("a round in which one of the two targets waited for the CPU is ignored", () => {
  const bare = target("http-proxy-3", [
    [100, 0.1],
    [100, 0.1],
    [10, 0.7],
  ]);
  const own = target("tollkeeper", [
    [80, 0.2],
    [80, 0.2],
    [80, 0.2],
  ]);
  assert.equal(cpuRatio("small16", resultWith(bare, own)), 0.8);
});

test("one undisturbed round is not enough for a verdict", () => {
  const bare = target("http-proxy-3", [
    [100, 0.1],
    [100, 0.5],
    [100, 0.5],
  ]);
  const own = target("tollkeeper", [
    [900, 0.2],
    [900, 0.2],
    [900, 0.2],
  ]);
  assert.equal(cpuRatio("small16", resultWith(bare, own)), Number.NaN);
});

test("where the system does not tell the time of waiting every round counts", () => {
  const bare = target("http-proxy-3", [
    [100, Number.NaN],
    [100, Number.NaN],
  ]);
  const own = target("tollkeeper", [
    [150, Number.NaN],
    [150, Number.NaN],
  ]);
  assert.equal(cpuRatio("small16", resultWith(bare, own)), 1.5);
});
