// Who paid leaves with what is exported: a span has the account, and the metrics tell a key, a plan and use beyond it apart.
import assert from "node:assert/strict";
import { test } from "node:test";
import { describeExchange } from "../../../src/core/export/describe-exchange.ts";
import { describeUsage } from "../../../src/core/metrics/describe-usage.ts";
import { chooseFormat, writeMetrics } from "../../../src/core/metrics/prometheus-text.ts";
import { UsageMetrics } from "../../../src/core/metrics/usage-metrics.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import { costOf } from "../../../src/core/price/cost.ts";
import { PRICES } from "../../helpers/ledger/priced-record.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const MODEL = "claude-sonnet-5";

const RECORDS = [
  ["default", "work"],
  ["plan:claude", "plan:claude/3f2a91c0"],
  ["extra:claude", "extra:claude/3f2a91c0"],
].map(([upstream = "", key = ""], at) =>
  usageRecord({
    id: `r${at}`,
    upstream,
    key,
    model: MODEL,
    model_requested: MODEL,
    tokens: tokens({ output: 1_000 }),
  }),
);

test("a span names the account that paid", () => {
  assert.deepEqual(
    RECORDS.map((record) => {
      const { attributes } = describeExchange(record);
      return [attributes["tollkeeper.upstream"], attributes["tollkeeper.key"]];
    }),
    RECORDS.map(({ upstream, key }) => [upstream, key]),
  );
});

test("metrics have a series for a key, for a plan, which costs nothing, and for use beyond the plan, which costs what a key does", () => {
  const metrics = new UsageMetrics();
  for (const record of RECORDS) metrics.add(record, PRICES);
  const [byKey] = RECORDS;
  assert.ok(byKey);
  const cost = costOf(byKey, PRICES);
  assert.ok(cost.kind === "priced" && cost.amount > 0n);
  assert.deepEqual(
    metrics.series.map(({ attributes, cost: amount }) => [
      attributes["tollkeeper.upstream"],
      formatMoney(amount),
    ]),
    [
      ["default", formatMoney(cost.amount)],
      ["plan:claude", "0"],
      ["extra:claude", formatMoney(cost.amount)],
    ],
  );
  const text = [...writeMetrics(describeUsage(metrics), chooseFormat(undefined))].join("");
  for (const { upstream } of RECORDS)
    assert.match(text, new RegExp(`^tollkeeper_\\w+\\{[^}]*tollkeeper_upstream="${upstream}"`, "m"));
});
