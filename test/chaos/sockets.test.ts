import assert from "node:assert/strict";
import { test } from "node:test";
import { renderSocketReport } from "./sockets/render-report.ts";
import { runSockets } from "./sockets/run-sockets.ts";

test("whatever clients, a service, reloads and kills do to WebSockets, no turn is lost, doubled or changed", async () => {
  const report = await runSockets({ rounds: 8, seed: "npm test" });
  assert.deepEqual(report.faults, [], renderSocketReport(report).join("\n"));
});
