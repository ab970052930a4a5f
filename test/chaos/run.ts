// `npm run chaos -- [--seconds N] [--seed S] [--concurrency N]`: runs random clients and a hostile upstream against a real daemon that
// is reloaded, moved, stopped and killed. Compares what all parties observed, and fails on any mismatch.
// `npm run chaos -- --kills N [--seed S]`: instead kills a daemon so many times under short and long requests.
// `npm run chaos -- --budgets N [--seed S]`: instead spends against a budget in so many rounds, each with a kill or a stop.
// `npm run chaos -- --sockets [--rounds N] [--seed S]`: instead talks over WebSockets in so many rounds, each with reloads and a kill or a stop.
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { renderBudgetReport } from "./budgets/render-report.ts";
import { runBudgets } from "./budgets/run-budgets.ts";
import { runChaos } from "./chaos.ts";
import { renderKillReport } from "./kills/render-report.ts";
import { runKills } from "./kills/run-kills.ts";
import { renderVerdict } from "./render-verdict.ts";
import { renderSocketReport } from "./sockets/render-report.ts";
import { runSockets } from "./sockets/run-sockets.ts";
import { checkRun } from "./verdict.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "180" },
    seed: { type: "string", default: randomBytes(4).toString("hex") },
    concurrency: { type: "string", default: "40" },
    kills: { type: "string" },
    budgets: { type: "string" },
    sockets: { type: "boolean", default: false },
    rounds: { type: "string", default: "20" },
  },
});
const { seed } = values;
if (values.kills !== undefined) {
  console.log(`${values.kills} kills, seed ${seed}`);
  const report = await runKills({ kills: Number(values.kills), seed });
  console.log(renderKillReport(report).join("\n"));
  process.exit(report.faults.length > 0 ? 1 : 0);
}
if (values.budgets !== undefined) {
  console.log(`${values.budgets} rounds against a budget, seed ${seed}`);
  const report = await runBudgets({ rounds: Number(values.budgets), seed });
  console.log(renderBudgetReport(report).join("\n"));
  process.exit(report.faults.length > 0 ? 1 : 0);
}
if (values.sockets) {
  console.log(`${values.rounds} rounds over WebSockets, seed ${seed}`);
  const report = await runSockets({ rounds: Number(values.rounds), seed });
  console.log(renderSocketReport(report).join("\n"));
  process.exit(report.faults.length > 0 ? 1 : 0);
}
const [seconds, concurrency] = [Number(values.seconds), Number(values.concurrency)];
console.log(`chaos for ${seconds} s, ${concurrency} clients at a time, seed ${seed}`);
const startedAt = performance.now();
const progress = () => Math.min(1, (performance.now() - startedAt) / 1000 / seconds);
const { observations, results } = await runChaos({ seed, concurrency, disturbEvery: 200, progress });
const checks = checkRun(observations, results);
console.log(renderVerdict(checks, observations, results).join("\n"));
const failed = checks.some(({ faults }) => faults.length > 0);
if (failed) console.log(`again with: npm run chaos -- --seed ${seed} --seconds ${seconds}`);
process.exitCode = failed ? 1 : 0;
