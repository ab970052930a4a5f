import assert from "node:assert/strict";
import { test } from "node:test";
import type { Status } from "../../../../src/local/dashboard/page/feed-types.ts";
import { budgetMeters, unpricedHints } from "../../../../src/local/dashboard/page/meters/budget-meters.ts";
import { priceHint } from "../../../../src/local/dashboard/page/meters/budget-words.ts";
import { limitMeters } from "../../../../src/local/dashboard/page/meters/limit-meters.ts";

type Budget = Status["budgets"][number];

const BUDGET: Budget = {
  id: "all: usd per day",
  scope: { kind: "all" },
  limit: { usd: 20 },
  window: { per: "day" },
  warn: [0.8, 1],
  percent: 79,
  spent: "15.80",
  assumed: "0",
  assumed_for: [],
  amount: "20",
  action: "refuse",
  until: "2099-11-25T00:00:00.000Z",
  opens_at: null,
  is_locked: false,
  spent_at: null,
};
const SPENT: Partial<Budget> = { percent: 130, spent: "26", scope: { kind: "tool", name: "codex" } };

function meterOf(change: Partial<Budget>, lifts: Status["lifts"] = []) {
  const [meter] = budgetMeters({ budgets: [{ ...BUDGET, ...change }], lifts });
  assert.ok(meter);
  return meter;
}

for (const [what, change, expected] of [
  ["below the first warning", {}, ""],
  ["from the first warning on", { percent: 80 }, "warning"],
  ["that warns from half on", { percent: 50, warn: [0.5] }, "warning"],
  ["that never warns, nearly spent", { percent: 99, warn: [] }, ""],
  ["spent", SPENT, "failure"],
  ["spent, which only warns", { ...SPENT, action: "warn" }, "warning"],
] as const) {
  test(`the bar of a budget ${what} is ${expected || "plain"}`, () => {
    assert.equal(meterOf(change).tone, expected);
  });
}

test("a budget of nothing has a full bar, of which nothing is assumed", () => {
  const { percent, assumed } = meterOf({ percent: 100, spent: "0", amount: "0", limit: { usd: 0 } });
  assert.deepEqual({ percent, assumed }, { percent: 100, assumed: 0 });
});

for (const [what, change, expected] of [
  ["for all tools", {}, "all tools per day"],
  ["of a tool", { scope: { kind: "tool", name: "codex" }, window: { rolling: 5 } }, "codex in 5 hours"],
  [
    "of a project",
    { scope: { kind: "project", name: "/src/shop" }, window: { rolling: 1 } },
    "project shop in 1 hour",
  ],
] as const) {
  test(`a budget ${what} is called “${expected}”`, () => {
    assert.equal(meterOf(change).name, expected);
  });
}

test("what a budget only assumes is not called spent, but named beside what is known", () => {
  assert.equal(meterOf({}).used, "79% spent, $15.80 of $20.00");
  assert.equal(meterOf({ assumed: "10.50" }).used, "79%: $5.30 known and $10.50 assumed, of $20.00");
});

test("what is assumed of less than a percent is not named, as long as the budget does not warn", () => {
  assert.equal(meterOf({ assumed: "0.19" }).used, "79% spent, $15.61 of $20.00");
  assert.match(meterOf({ assumed: "0.2" }).used, /known and \$0\.200 assumed/);
  assert.match(meterOf({ assumed: "0.19", percent: 80 }).used, /known and \$0\.190 assumed/);
});

test("only a budget of which nothing is spent has an empty bar", () => {
  const little = meterOf({ percent: 0, spent: "0.05" });
  assert.deepEqual([little.used, little.percent], ["<1% spent, $0.0500 of $20.00", 0.25]);
  assert.equal(meterOf({ percent: 0, spent: "0" }).percent, 0);
});

test("a spent budget says that it refuses, and how to lift it; not if an administrator has locked it", () => {
  const { next, more, alarms, isRefusing } = meterOf(SPENT);
  assert.equal(next, "Refused");
  // It is said above every view.
  assert.deepEqual([alarms, isRefusing], [[], true]);
  assert.deepEqual(more, ["To let requests go on, type: tollkeeper budget lift codex"]);
  assert.match(meterOf({ ...SPENT, opens_at: "2099-01-01T00:00:00Z" }).next, /^Refused until /);
  assert.deepEqual(meterOf({ ...SPENT, is_locked: true }).more, []);
});

test("a budget that is lifted refuses nothing", () => {
  const until = "2099-01-01T00:00:00.000Z";
  for (const tool of [null, "codex"]) assert.doesNotMatch(meterOf(SPENT, [{ tool, until }]).next, /Refused/);
  assert.match(meterOf(SPENT, [{ tool: "zed", until }]).next, /Refused/);
});

test("only windows of the calendar start over", () => {
  assert.match(meterOf({}).next, /^Starts over /);
  assert.equal(meterOf({ window: { rolling: 5 } }).next, "");
});

test("what is assumed is a part of the bar, named with its model and the next command", () => {
  const { assumed, alarms, assumptions } = meterOf({
    assumed: "5",
    assumed_for: [{ model: "odd", amount: "5" }],
  });
  assert.equal(assumed, 25);
  assert.deepEqual(alarms, []);
  assert.deepEqual(assumptions, [
    "$5.00 is assumed for odd, which has no price. To set one, type: tollkeeper prices odd",
  ]);
});

test("a model without a price is named once, however many budgets assume its cost", () => {
  const assuming = (...models: string[]) => ({
    ...BUDGET,
    assumed_for: models.map((model) => ({ model, amount: "1" })),
  });
  assert.deepEqual(unpricedHints([assuming("odd"), assuming("odd", "rare"), BUDGET]), [
    "odd has no price, so its cost is assumed. To set one, type: tollkeeper prices odd",
    "rare has no price, so its cost is assumed. To set one, type: tollkeeper prices rare",
  ]);
  assert.equal(unpricedHints([assuming("a", "b", "c", "d")]).at(-1), "1 more model has no price");
});

for (const [what, change, expected] of [
  ["that is well", {}, ""],
  ["that refuses", { ...SPENT, opens_at: "2099-01-01T00:00:00Z" }, /^codex is refused until .*\d/],
  ["of all tools that refuses for ever", { ...SPENT, scope: { kind: "all" } }, "all tools are refused"],
  ["that warns", { percent: 84 }, "all tools per day is 84% spent"],
] as const) {
  test(`a headline says of a budget ${what}: ${expected || "nothing"}`, () => {
    const { finding } = meterOf(change);
    if (typeof expected === "string") assert.equal(finding, expected);
    else assert.match(finding, expected);
  });
}

test("where there is little room, only what will be spent too soon has a note", () => {
  const assumed = { assumed: "15", assumed_for: [{ model: "odd", amount: "15" }] };
  const soon = { spent_at: "2099-11-24T00:00:00.000Z" };
  assert.match(meterOf(soon).alarms.join(), /^At this rate, spent by /);
  for (const change of [
    {},
    assumed,
    { ...SPENT, ...assumed },
    { ...SPENT, action: "warn" },
    { ...SPENT, ...soon, action: "warn" },
  ])
    assert.deepEqual(meterOf(change).alarms, []);
});

test("a model's name cannot end the command that sets its price, nor act on a terminal", () => {
  for (const [model, command] of [
    ["a-1.5:free", "tollkeeper prices a-1.5:free"],
    ["a; touch b", "tollkeeper prices 'a; touch b'"],
    ["it's $(id)", "tollkeeper prices 'it'\\''s $(id)'"],
  ] as const)
    assert.deepEqual(priceHint(model), [`To set one, type: ${command}`]);
  for (const model of ["a\nb", "a\u001b[2J", "a\u202eb"]) assert.deepEqual(priceHint(model), []);
});

test("a limit is a meter while its window lasts and its share is known", () => {
  const window = {
    window: "5h",
    used_percent: 82,
    state: "seen",
    resets_at: null,
    seen_at: "2026-11-29T15:00:00Z",
  } as const;
  const windows = [
    window,
    { ...window, window: "7d", used_percent: 31, resets_at: "2099-11-29T15:00:00Z" },
    { ...window, state: "reset" },
    { ...window, window: "retry", used_percent: null },
  ] as const;
  const holds = [
    {
      kind: "tool" as const,
      name: "nightly",
      keep: 20,
      lift: "tollkeeper brake remove nightly",
      account: "default",
      window: "5h",
    },
  ];
  const meters = limitMeters({ limits: [{ account: "default", windows }], holds });
  assert.deepEqual(
    meters.map(({ name, used, tone }) => [name, used, tone]),
    [
      ["default, 5-hour window", "82% used", "warning"],
      ["default, 7-day window", "31% used", ""],
    ],
  );
  assert.deepEqual(
    meters.map(({ more }) => more),
    [
      [
        "nightly waits until the reset, as its brake keeps 20%. To let it pass, type: tollkeeper brake remove nightly",
      ],
      [],
    ],
  );
  assert.match(meters[0]?.next ?? "", /^As of /);
  assert.match(meters[1]?.next ?? "", /^Resets .*, as of /);
});

test("the account of a plan is named without its id, unless there are two of that plan", () => {
  const windows = [
    {
      window: "5h",
      used_percent: 9.25,
      state: "seen",
      resets_at: null,
      seen_at: "2026-11-29T15:00:00Z",
    },
  ] as const;
  const named = (...accounts: string[]) =>
    limitMeters({ limits: accounts.map((account) => ({ account, windows })), holds: [] }).map(
      ({ name, used }) => `${name}: ${used}`,
    );
  assert.deepEqual(named("plan:claude/3f2a91c0", "plan:codex"), [
    "Claude plan, 5-hour window: 9% used",
    "Codex plan, 5-hour window: 9% used",
  ]);
  assert.deepEqual(named("plan:claude/3f2a91c0", "plan:claude/aa"), [
    "Claude plan 3f2a91c0, 5-hour window: 9% used",
    "Claude plan aa, 5-hour window: 9% used",
  ]);
});
