// Use beyond a plan, which the service charges: its records say so by what the response says, and budgets in money hold for what is expected to be.
import assert from "node:assert/strict";
import { test } from "node:test";
import { HeaderIndex } from "../../src/core/http/header-index.ts";
import { accountOf } from "../../src/core/plans/names.ts";
import { PLANS } from "../../src/core/plans/plans.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { CLAUDE_HEADERS, startGateWithPlans } from "../helpers/gate/gate-with-plans.ts";
import { post, waitUntilHandled } from "../helpers/gate/gate.ts";
import { ManualClock } from "../helpers/gate/memory.ts";
import { RecordingBudgets } from "../helpers/gate/recording-budgets.ts";
import { respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";

const CLAUDE = "/t/claude-code/plan/v1/messages";
const BODY = { model: "claude-sonnet-5", max_tokens: 9, messages: [] };
const HOUR = 3_600_000;

const [claude, chatgpt] = PLANS;

function said(headers: Record<string, string>, plan = claude) {
  const lines = Object.entries(headers).flatMap(([name, value]) => [
    `anthropic-ratelimit-unified-${name}`,
    value,
  ]);
  return plan?.findExtra(new HeaderIndex(lines))?.isCharged ?? null;
}

test("a response is charged beyond the plan if it says that it is in use, or that the plan is used up and extra use allowed", () => {
  const cases: [Record<string, string>, boolean | null][] = [
    [{}, null],
    [{ "5h-utilization": "1.04" }, null],
    [{ status: "allowed", "overage-status": "allowed" }, false],
    [{ status: "allowed_warning", "overage-in-use": "false" }, false],
    [{ status: "rejected", "overage-status": "rejected" }, false],
    [{ status: "rejected" }, false],
    [{ status: "rejected", "overage-status": "allowed" }, true],
    [{ status: "rejected", "overage-status": "allowed_warning" }, true],
    [{ status: "rejected", "overage-status": "allowed_by_nobody" }, false],
    [{ status: "allowed", "overage-in-use": "true" }, true],
    [{ "overage-in-use": "true" }, true],
  ];
  for (const [headers, isCharged] of cases) assert.equal(said(headers), isCharged, JSON.stringify(headers));
  assert.equal(said({ status: "rejected", "overage-in-use": "true" }, chatgpt), null);
});

test("records name extra use by the response, and budgets expect it until the plan's window resets", async (t) => {
  const clock = new ManualClock();
  const budgets = new RecordingBudgets();
  const resets = String(Math.round(clock.now() / 1000 + 3600));
  let isExtra = true;
  const config = rulesForTools({ tools: { "claude-code": { budgets: [{ usd: 1, per: "day" }] } } });
  const { gate } = await startGateWithPlans(
    t,
    (request, res) => {
      res.setHeader("anthropic-organization-id", "org-sentinel-4711");
      res.setHeader("anthropic-ratelimit-unified-status", isExtra ? "rejected" : "allowed");
      res.setHeader("anthropic-ratelimit-unified-reset", resets);
      if (isExtra) res.setHeader("anthropic-ratelimit-unified-overage-in-use", "true");
      return respondWithMessage(request, res);
    },
    { config, clock, budgets },
  );
  const send = async () => {
    await (await post(gate, CLAUDE, BODY, CLAUDE_HEADERS)).text();
    await waitUntilHandled(gate);
  };
  await send();
  await send();
  clock.advance(2 * HOUR);
  await send();
  isExtra = false;
  await send();
  await send();
  assert.deepEqual(
    budgets.asked.map(({ upstream }) => upstream),
    ["plan:claude", "extra:claude", "plan:claude", "extra:claude", "plan:claude"],
  );
  const { records } = gate.ledger;
  assert.deepEqual(
    records.map(({ upstream }) => upstream),
    ["extra:claude", "extra:claude", "extra:claude", "plan:claude", "plan:claude"],
  );
  const accounts = records.map(({ upstream, key }) => accountOf(upstream, key));
  const hashes = accounts.map((account) => account.replace(/^(?:extra|plan):claude\//, ""));
  assert.equal(new Set(hashes).size, 1);
  assert.match(accounts[0] ?? "", /^extra:claude\/[0-9a-f]{8}$/);
  assert.equal(accounts[4], `plan:claude/${hashes[0]}`);
  assert.equal(budgets.asked[1]?.key, accounts[0]);
});
