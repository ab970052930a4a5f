import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findValues } from "../../../../src/cli/commands/statusline/values.ts";
import { defaultConfig, priceSettingsOf } from "../../../../src/core/config/config.ts";
import { chargesOf } from "../../../../src/core/price/charge.ts";
import { Spending } from "../../../../src/core/price/spending.ts";
import { NO_SLOTS } from "../../../../src/core/price/time-slots.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";
import { scratchDirectory } from "../../../helpers/process/scratch-directory.ts";

const TABLE = {
  source: "prices.json",
  asOf: "2026-11-28",
  providers: [
    {
      id: "anthropic",
      api: "https://api\\.anthropic\\.com",
      makes: { contains: "claude" },
      models: [
        { id: "claude-sonnet-9", match: { equals: "claude-sonnet-9" }, prices: [{ rates: { output: 7 } }] },
      ],
    },
  ],
};

test("the status line has imported prices, too", async (t) => {
  const path = join(scratchDirectory(t), "prices.json");
  writeFileSync(path, JSON.stringify(TABLE), { mode: 0o600 });
  const used = usageRecord({
    upstream: "gateway",
    model: "claude-sonnet-9",
    tokens: tokens({ output: 1_000_000 }),
  });
  const spending = new Spending(NO_SLOTS);
  spending.addRequest(used, chargesOf(used).own);
  const today = {
    requests: 1,
    sandbox: 0,
    input: 0,
    cacheRead: 0,
    spending: spending.encode(),
    isWhole: true,
  };
  const facts = {
    today,
    session: null,
    isWhole: true,
    isReading: false,
    limit: "",
    limits: "",
    budgetPercent: null,
    failing: "",
    paused: "",
  };
  const ask = (priceTable: string | null) =>
    findValues(
      { ...facts, prices: { ...priceSettingsOf(defaultConfig), priceTable } },
      { session: null, model: null, directory: null },
    );
  assert.equal((await ask(path)).today, "$7.00");
  assert.equal((await ask(null)).today, "unpriced");
});

for (const [isReading, shown] of [
  [true, "counting…"],
  [false, "unknown"],
] as const)
  test(`without the ledger's sums, today is ${shown}`, async () => {
    const spending = new Spending(NO_SLOTS).encode();
    const none = { requests: 0, sandbox: 0, input: 0, cacheRead: 0, spending, isWhole: true };
    const values = await findValues(
      {
        today: none,
        session: none,
        isWhole: false,
        isReading,
        budgetPercent: 40,
        limit: "",
        limits: "",
        failing: "",
        paused: "",
        prices: priceSettingsOf(defaultConfig),
      },
      { session: "one", model: null, directory: null },
    );
    assert.deepEqual([values.today, values.session, values.budget], [shown, shown, "40%"]);
  });
