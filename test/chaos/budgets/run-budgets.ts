import { setMaxListeners } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { askDaemon } from "../../../src/adapters/control-socket.ts";
import type { BudgetsStatus } from "../../../src/core/budget/budget-status.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { startSandbox, type Sandbox } from "../../../src/sandbox/server.ts";
import { launchDaemon, type Daemon, type DaemonStart } from "../../helpers/daemon/daemon.ts";
import { removeDirectory } from "../../helpers/process/scratch-directory.ts";
import { between, chance, createRandom, type Random } from "../random.ts";
import { MEAN_TOKENS, MOST_TOKENS, sendAtRandom, type Answers } from "./clients.ts";

/** Clients that send at the same time, and how many of their requests a round has room for. */
const CLIENTS = 100;
const ROOM = 7;
/** When a client that got no response tries again. A round ends after so many refusals, as nothing may pass any more. */
const RETRY_MS = 50;
const MOST_REFUSED = 2_000;
/** How often the answers are counted. */
const POLL_MS = 5;
/** Share of the rounds that end with a kill; the others end with a stop. */
const KILLED = 0.7;

/** What rounds against a budget have shown. Amounts are tokens. */
export interface BudgetReport {
  rounds: number;
  answers: Answers;
  /** By the sandbox's own books. */
  billed: number;
  /** By the budget. */
  spent: number;
  /** The part of it that is assumed, because its usage was not reported. */
  assumed: number;
  /** How much more than there was room for was counted and billed in each round; negative where it was less. */
  excesses: { counted: number; billed: number }[];
  /** Requests whose usage was not reported. */
  uncertain: number;
  faults: string[];
}

/**
 * Has random clients spend against a budget in so many rounds. In each the limit is raised a little, and the daemon is killed or stopped
 * in the middle. Compares what the sandbox has billed with the room that there was, and the budget's count with the ledger.
 */
export async function runBudgets({ rounds, seed }: { rounds: number; seed: string }): Promise<BudgetReport> {
  const random = createRandom(seed);
  const sandbox = await startSandbox({ keys: [{ name: "default", secret: "some-key", group: "all" }] });
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-budgets-"));
  const key = join(home, "key");
  writeFileSync(key, "some-key\n", { mode: 0o600 });
  const upstreams = { default: { baseUrl: sandbox.baseUrl, keySource: { file: key } } };
  const launch = (limit: number) =>
    launchDaemon(home, {
      config: { upstreams, budgets: [{ tokens: limit, per: "month" }], ledger: { noteAfterMs: 50 } },
    });
  const answers: Answers = { passed: 0, refused: 0, broken: 0 };
  const report: BudgetReport = {
    rounds: 0,
    answers,
    billed: 0,
    spent: 0,
    assumed: 0,
    excesses: [],
    uncertain: 0,
    faults: [],
  };
  let start: DaemonStart | null = null;
  try {
    while (report.rounds < rounds) {
      report.rounds += 1;
      const limit = report.spent + Math.round(ROOM * MEAN_TOKENS);
      start = launch(limit);
      await spendUntilKilled(start, random, answers);
      start = launch(limit);
      await checkRound(await start.ready, limit, sandbox, report);
      await start.kill();
    }
    return report;
  } finally {
    await start?.kill();
    await sandbox.close();
    removeDirectory(home);
  }
}

async function spendUntilKilled(start: DaemonStart, random: Random, answers: Answers): Promise<void> {
  const daemon = await start.ready;
  const controller = new AbortController();
  setMaxListeners(2 * CLIENTS, controller.signal);
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const own = createRandom(`${random()} ${index}`);
    while (!controller.signal.aborted) {
      const outcome = await sendAtRandom(daemon.url, own, controller.signal);
      answers[outcome] += 1;
      if (outcome !== "passed") await delay(RETRY_MS);
    }
  });
  // By their number, not after a time: a busy machine may need ten times as long.
  const passed = answers.passed + between(random, 0, 2 * ROOM);
  const refused = answers.refused + between(random, CLIENTS, MOST_REFUSED);
  while (answers.passed < passed && answers.refused < refused) await delay(POLL_MS);
  if (chance(random, KILLED)) await start.kill();
  else await daemon.stop();
  controller.abort();
  await Promise.all(clients);
}

/** Compares the books once the daemon is back, and has made records of its notes. */
async function checkRound(
  daemon: Daemon,
  limit: number,
  sandbox: Sandbox,
  report: BudgetReport,
): Promise<void> {
  const path = join(daemon.env["XDG_RUNTIME_DIR"] ?? "", "tollkeeper", "control.sock");
  const [budget] = await askForBudgets(path);
  const records = await daemon.ledger();
  const before = { spent: report.spent, billed: report.billed, uncertain: report.uncertain };
  report.spent = Number(budget?.spent);
  report.assumed = Number(budget?.assumed);
  report.billed = billedBy(sandbox);
  report.uncertain = records.filter(isUncertain).length;
  const counted = report.spent - limit;
  const billed = report.billed - before.billed - (limit - before.spent);
  report.excesses.push({ counted, billed });
  const known = records.reduce((sum, { tokens }) => sum + (tokens?.total ?? 0), 0);
  if (report.spent - report.assumed !== known)
    report.faults.push(`the budget counts ${report.spent - report.assumed}, the ledger ${known}`);
  // The last one that was admitted, and four that cost more than they were reserved for (docs/budgets.md).
  const excess = MOST_TOKENS * 5;
  if (counted > excess) report.faults.push(`counted ${report.spent} of ${limit}`);
  // What was cut off may cost more than what was seen of it. Whatever has left has a record, however early the kill came.
  const unknown = MOST_TOKENS * (report.uncertain - before.uncertain);
  if (billed > excess + unknown)
    report.faults.push(`billed ${billed} beyond the limit, more than ${excess + unknown}`);
  if (report.billed - before.billed > report.spent - before.spent + unknown)
    report.faults.push(`billed ${report.billed}, counted ${report.spent}, at most ${unknown} of it unknown`);
}

/** Asks once more after no answer: a busy machine may let a daemon with a low priority wait for seconds. */
async function askForBudgets(path: string): Promise<BudgetsStatus["budgets"]> {
  const ask = () => askDaemon(path, "budgets", {}) as Promise<BudgetsStatus>;
  return (await ask().catch(ask)).budgets;
}

function isUncertain({ usage }: UsageRecord): boolean {
  return usage === "partial" || usage === "absent";
}

function billedBy(sandbox: Sandbox): number {
  return sandbox.counts().reduce((sum, { count }) => {
    return sum + count.input_uncached + count.cache_read + count.cache_write + count.output;
  }, 0);
}
