import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import type { Cost, Status } from "../../../../src/local/dashboard/page/feed-types.ts";
import { describeEnd } from "../../../../src/local/dashboard/page/record/ending.ts";
import {
  budgetsNow,
  reasonsForCost,
  reasonsOf,
} from "../../../../src/local/dashboard/page/record/reasons.ts";
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

const COST: Cost = {
  amount_usd: "1",
  is_complete: true,
  is_lower_bound: false,
  from: "configuration",
  lines: [],
  missing: [],
};
const LINE = { class: "", model: "a", source: "", count: 1, usd: "1", per: 1, factors: [], amount_usd: "1" };
const UNPRICED = { model: "odd", what: "model" };

for (const [what, cost, record, reasons] of [
  ["that is certain", {}, {}, []],
  [
    "without any price",
    { amount_usd: null, missing: [UNPRICED] },
    {},
    ["No cost is known, because odd has no price. To set one, type: tollkeeper prices odd"],
  ],
  [
    "of which a part has no price",
    { missing: [{ model: "odd", what: "cache_write_12h" }] },
    {},
    [
      "It may have cost more, because “to cache (12 hours)” of odd has no price. To set one, type: tollkeeper prices odd",
    ],
  ],
  [
    "of which two parts have none",
    { missing: [UNPRICED, UNPRICED, { model: null, what: "model" }] },
    {},
    [
      "It may have cost more, because odd and a model without a name have no price. To set one, type: tollkeeper prices odd",
    ],
  ],
  [
    "of cache writes of unknown life",
    { is_lower_bound: true, lines: [{ ...LINE, class: "cache_write_ttl_unknown" }] },
    {},
    ["It may have cost more, because the service does not say how long it caches what was written."],
  ],
  [
    "of more parts than are recorded",
    { is_lower_bound: true },
    { flags: ["extra_cut_short"] },
    ["It may have cost more, because the response had more parts than a record has room for."],
  ],
  // That the tokens are a lower bound is said above it.
  ["of a response that was cut off", { is_lower_bound: true }, { usage: "partial" }, []],
] as const)
  test(`a cost ${what} says ${reasons.length === 0 ? "nothing more" : "why"}`, () => {
    const used = usageRecord(record as Parameters<typeof usageRecord>[0]);
    assert.deepEqual(reasonsForCost({ ...COST, ...(cost as Partial<Cost>) }, used), reasons);
  });
