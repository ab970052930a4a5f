import assert from "node:assert/strict";
import { test } from "node:test";
import { summariseScenario, type SamplesByTarget } from "./result.ts";
import type { Sample, Scenario } from "./scenarios/scenario.ts";

const scenario: Scenario = {
  name: "small1",
  title: "",
  isInQuick: true,
  isInWarmUp: true,
  figures: [
    { key: "cpuUs", title: "", digits: 0 },
    { key: "addedUs", title: "", digits: 0, isAdded: true },
  ],
  measure: () => Promise.reject(new Error("not to be measured")),
};

const sample = (cpuUs: number, addedUs: number): Sample => ({
  values: { cpuUs, addedUs },
  faults: [],
  trust: null,
});

const samples: SamplesByTarget = new Map([
  ["direct", [sample(Number.NaN, 20), sample(Number.NaN, 30)]],
  ["http-proxy-3", [sample(100, 120), sample(200, 130)]],
  ["tollkeeper", [sample(50, 70), sample(100, 80)]],
]);

test("from an added figure the direct one of the same round is subtracted, and ratios use the difference", () => {
  const own = summariseScenario(scenario, samples).targets.find(({ target }) => target === "tollkeeper");
  assert.deepEqual(own?.figures["addedUs"]?.rounds, [50, 50]);
  assert.equal(own?.figures["addedUs"]?.ratioTo["http-proxy-3"], 0.5);
});

test("other figures are as measured, and there is no ratio to a target that was not measured", () => {
  const own = summariseScenario(scenario, samples).targets.find(({ target }) => target === "tollkeeper");
  assert.deepEqual(own?.figures["cpuUs"]?.rounds, [50, 100]);
  assert.deepEqual(own?.figures["cpuUs"]?.ratioTo, { "http-proxy-3": 0.5, nginx: Number.NaN });
});
