import assert from "node:assert/strict";
import { test } from "node:test";
import { runChaos } from "./chaos.ts";
import { renderVerdict } from "./render-verdict.ts";
import { checkRun } from "./verdict.ts";

const REQUESTS = 400;

const skip = process.platform !== "linux" && "needs Linux: descriptors and memory are read from /proc";

test(
  "with random clients, a hostile upstream, reloads, a stop and a kill all observations agree",
  { skip },
  async () => {
    const { observations, results } = await runChaos({
      seed: "npm test",
      concurrency: 24,
      disturbEvery: 30,
      progress: (requests) => requests / REQUESTS,
    });
    const checks = checkRun(observations, results);
    const faults = checks.flatMap((check) => check.faults);
    assert.deepEqual(faults, [], renderVerdict(checks, observations, results).join("\n"));
  },
);
