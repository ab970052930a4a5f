import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { checkConfig } from "../../../src/core/config/config.ts";
import { BudgetKeeper } from "../../../src/daemon/budgets/keeper.ts";
import { RecordFeed } from "../../../src/daemon/record-feed.ts";
import { Statusline } from "../../../src/daemon/statusline.ts";
import { passTimeUntil } from "../../helpers/async/hold-time.ts";
import { ledgerScratchDirectory, startLedger } from "../../helpers/ledger/ledger.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

/** The monotonic clock, which measures `duration_ms`, stands still while a computer sleeps; the wall clock, which `ts` is by, does not. */
const SLEPT_MS = 120_000;

function start(t: TestContext) {
  const { ledger: file, ...rest } = startLedger(t);
  for (let count = 0; count < 3_000; count += 1) file.append([usageRecord()]);
  const feed = new RecordFeed();
  const ledger = feed.publishing(file);
  const suspended = () => ({
    ...usageRecord({ ts: new Date(rest.clock.now() - SLEPT_MS).toISOString(), duration_ms: 80 }),
  });
  return { ...rest, feed, ledger, suspended };
}

function configOf(changes: object) {
  const checked = checkConfig(changes, "/home/user");
  assert.ok(checked.ok);
  return checked.config;
}

test("a request that slept and ends while the ledger is read for the status line counts once", async (t) => {
  const { ledger, suspended, ...rest } = start(t);
  const statusline = new Statusline({
    ...rest,
    ledger,
    budgets: { percentFor: () => null },
    limits: { describe: () => [] },
    failing: () => [],
    pauses: { nameFor: () => "" },
    source: { current: () => configOf({}) },
  });
  let ended = 0;
  const end = () => {
    ledger.append([suspended()]);
    ended += 1;
  };
  const isWhole = async () => {
    while (!(await statusline.answer(null)).isWhole);
  };
  await passTimeUntil(isWhole(), end);
  assert.ok(ended > 0);
  assert.equal((await statusline.answer(null)).today.requests, 3_000 + ended);
});

test("a request that slept and ends while the ledger is counted for budgets counts once", async (t) => {
  const { ledger, suspended, ...rest } = start(t);
  const opening = BudgetKeeper.open(
    { ...rest, ledger, statePath: join(ledgerScratchDirectory(t), "budgets.json"), managed: () => null },
    configOf({ budgets: [{ tokens: 1_000_000_000, per: "month" }] }),
  );
  let ended = 0;
  await passTimeUntil(opening, () => {
    ledger.append([suspended()]);
    ended += 1;
  });
  assert.ok(ended > 0);
  const [budget] = (await opening).describe().budgets;
  assert.equal(budget?.spent, String(15 * (3_000 + ended)));
});
