import assert from "node:assert/strict";
import { test } from "node:test";
import { runChaos } from "./chaos.ts";
import { renderVerdict } from "./render-verdict.ts";
import { judge } from "./verdict.ts";

const REQUESTS = 400;

const skip = process.platform !== "linux" && "needs Linux: descriptors and memory are read from /proc";

test("random clients, an evil upstream, reloads, a stop and a kill: all books agree", { skip }, async () => {
  const { books, figures } = await runChaos({
    seed: "npm test",
    concurrency: 24,
    disturbEvery: 30,
    progress: (requests) => requests / REQUESTS,
  });
  const checks = judge(books, figures);
  const faults = checks.flatMap((check) => check.faults);
  assert.deepEqual(faults, [], renderVerdict(checks, books, figures).join("\n"));
});
