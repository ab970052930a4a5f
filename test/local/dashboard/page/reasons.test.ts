import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import type { Status } from "../../../../src/local/dashboard/page/feed-types.ts";
import { describeEnd } from "../../../../src/local/dashboard/page/record/ending.ts";
import { budgetsNow, reasonsOf } from "../../../../src/local/dashboard/page/record/reasons.ts";
import { usageRecord } from "../../../helpers/ledger/usage-record.ts";

const NONE = { tokens: null, usage: "absent" } as const;

for (const [change, end, reasons] of [
  [{ outcome: "completed" }, "completed", []],
  [
    { ...NONE, outcome: "error", status: 529, error_type: "overloaded_error" },
    "overloaded (529)",
    ["The service was overloaded (529). Nothing was charged. codex may try again."],
  ],
  [
    { ...NONE, outcome: "error", status: 400, error_type: "invalid_request_error" },
    "invalid request (400)",
    ["The service did not accept the request (400). Nothing was charged."],
  ],
  [
    { ...NONE, outcome: "rejected", status: 402, usage: "none", error_type: "budget_spent" },
    "refused: budget spent",
    [
      "tollkeeper refused the request, because a budget was spent, or reserved for running requests. Nothing was charged.",
    ],
  ],
  [
    { ...NONE, outcome: "rejected", status: 502, usage: "none", error_type: "upstream_unreachable" },
    "no response: upstream unreachable",
    ["No response came from the service, because no connection to it could be made. Nothing was charged."],
  ],
  [
    { outcome: "cut", cut_by: "client", usage: "partial" },
    "cut short by the tool",
    ["The response was ended early by the tool.", "The response was cut off: the tokens are a lower bound."],
  ],
  [{ outcome: "failed", error_type: "server_error" }, "failed: server", []],
] as const satisfies readonly (readonly [Partial<UsageRecord>, string, readonly string[]])[]) {
  test(`a request that ended as “${end}” says why`, () => {
    const record = usageRecord({ tool: "codex", ...change });
    assert.equal(describeEnd(record), end);
    assert.deepEqual(reasonsOf(record), reasons);
  });
}

test("what a budget refused names the budgets that may have done it, with what is spent of them now", () => {
  const shared = {
    limit: { usd: 10 },
    window: { per: "day" },
    warn: [],
    assumed: "0",
    assumed_for: [],
    amount: "10",
    action: "refuse",
    until: "2099-11-25T00:00:00.000Z",
    opens_at: null,
    is_locked: false,
    spent_at: null,
  } as const;
  const budget = (scope: Status["budgets"][number]["scope"], percent: number, action = "refuse") => ({
    ...shared,
    id: JSON.stringify(scope),
    scope,
    percent,
    action,
    spent: String(percent / 10),
  });
  const budgets = [
    budget({ kind: "all" }, 50),
    budget({ kind: "all" }, 120, "warn"),
    budget({ kind: "tool", name: "codex" }, 110),
    budget({ kind: "tool", name: "zed" }, 110),
    budget({ kind: "project", name: "/src/shop" }, 20),
  ];
  const now = (change: Partial<UsageRecord>) =>
    budgetsNow(usageRecord({ tool: "codex", ...change }), { budgets, lifts: [] } as unknown as Status);
  assert.deepEqual(now({}), [
    "codex per day, now: 110% spent, $11.00 of $10.00. Refused. To let requests go on, type: tollkeeper budget lift codex",
  ]);
  // None of its budgets is spent now: any may have been.
  assert.deepEqual(now({ tool: "aider", project: "/src/shop" }), [
    "Its budgets now: all tools per day: 50% spent, $5.00 of $10.00; project shop per day: 20% spent, $2.00 of $10.00.",
  ]);
});
