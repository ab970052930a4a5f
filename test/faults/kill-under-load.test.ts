// However often the daemon is killed under load, every request that was answered in full, or that was under way for a second, has
// exactly one record, and its tokens are the upstream's. `npm run chaos -- --kills 100` does the same for longer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { renderKillReport } from "../chaos/kills/render-report.ts";
import { runKills } from "../chaos/kills/run-kills.ts";

const KILLS = 5;

test("after kills under load the ledger has what clients and upstream know", async (t) => {
  const report = await runKills({ kills: KILLS, seed: "npm test" });
  for (const line of renderKillReport(report)) t.diagnostic(line);
  assert.deepEqual(report.faults, []);
  const { owed, tokens, recovered, answered } = report;
  assert.ok(answered > 100 && recovered > 0 && owed.partial > 0 && owed.absent > 0);
  assert.equal(tokens.ledger, tokens.upstream);
});
