import assert from "node:assert/strict";
import { test } from "node:test";
import { problemsOf } from "../../helpers/config/config-problems.ts";
import { validConfig } from "./valid-config.ts";

test("budgets have a limit, a window, and defaults", () => {
  const { budgets, tools, keys, projects } = validConfig({
    ledger: { project: true },
    budgets: [
      { usd: 0.1, per: "day" },
      {
        tokens: 5,
        class: "output",
        rolling: 5,
        action: "warn",
        warn: [1, 0.5, 0.5],
        unpriced: "allow",
        notify: true,
      },
    ],
    tools: { codex: { budgets: [{ usd: 20, per: "week" }] } },
    keys: { work: { budgets: [{ usd: 20, per: "month" }] } },
    projects: { "~/code/shop/": { budgets: [{ usd: 20, per: "hour" }] }, "/": {} },
  });
  assert.deepEqual(budgets, [
    {
      limit: { usd: 0.1 },
      window: { per: "day" },
      action: "refuse",
      warn: [0.8, 1],
      unpriced: "dearest",
      notify: false,
    },
    {
      limit: { tokens: 5, class: "output" },
      window: { rolling: 5 },
      action: "warn",
      warn: [0.5, 1],
      unpriced: "allow",
      notify: true,
    },
  ]);
  assert.deepEqual(tools["codex"]?.budgets[0]?.limit, { usd: 20 });
  assert.deepEqual(keys["work"]?.budgets[0]?.window, { per: "month" });
  assert.deepEqual(Object.keys(projects), ["/home/ada/code/shop", "/"]);
});

test("a budget that cannot be meant is refused, with its place", () => {
  const cases: [what: string, file: unknown, problem: string][] = [
    ["an object", { budgets: { usd: 20 } }, "budgets: must be a list: [ ... ]"],
    ["no limit", { budgets: [{ per: "day" }] }, 'budgets[0]: must have exactly one of "usd" and "tokens"'],
    [
      "two limits",
      { budgets: [{ usd: 1, tokens: 1, per: "day" }] },
      'budgets[0]: must have exactly one of "usd" and "tokens"',
    ],
    ["no window", { budgets: [{ usd: 1 }] }, 'budgets[0]: must have exactly one of "per" and "rolling"'],
    [
      "two windows",
      { budgets: [{ usd: 1, per: "day", rolling: 1 }] },
      'budgets[0]: must have exactly one of "per" and "rolling"',
    ],
    [
      "a class of dollars",
      { budgets: [{ usd: 1, class: "output", per: "day" }] },
      'budgets[0]: has a "class", which only a limit in "tokens" can have; remove it',
    ],
    [
      "an unknown class",
      { budgets: [{ tokens: 1, class: "all", per: "day" }] },
      'budgets[0].class: must be "input" or "cacheRead" or "cacheWrite" or "output"',
    ],
    ["dollars in quotes", { budgets: [{ usd: "20", per: "day" }] }, "budgets[0].usd: must be a number"],
    ["a negative limit", { budgets: [{ usd: -1, per: "day" }] }, "budgets[0].usd: must not be negative"],
    [
      "a fraction of a millionth",
      { budgets: [{ usd: 0.0000001, per: "day" }] },
      "budgets[0].usd: must have at most 6 decimal places",
    ],
    [
      "broken tokens",
      { budgets: [{ tokens: 1.5, per: "day" }] },
      "budgets[0].tokens: must be a whole number",
    ],
    [
      "a year",
      { budgets: [{ usd: 1, per: "year" }] },
      'budgets[0].per: must be "hour" or "day" or "week" or "month"',
    ],
    ["no hours", { budgets: [{ usd: 1, rolling: 0 }] }, "budgets[0].rolling: must be at least 1"],
    ["too many hours", { budgets: [{ usd: 1, rolling: 8_785 }] }, "budgets[0].rolling: must be at most 8784"],
    [
      "a share in percent",
      { budgets: [{ usd: 1, per: "day", warn: [80] }] },
      "budgets[0].warn[0]: must be at most 1",
    ],
    [
      "a share of nothing",
      { budgets: [{ usd: 1, per: "day", warn: [0.5, 0] }] },
      "budgets[0].warn[1]: must be more than 0, such as 0.8 for 80%",
    ],
    [
      "an unknown action",
      { budgets: [{ usd: 1, per: "day", action: "stop" }] },
      'budgets[0].action: must be "refuse" or "warn"',
    ],
    [
      "an unknown rule",
      { budgets: [{ usd: 1, per: "day", unpriced: "free" }] },
      'budgets[0].unpriced: must be "dearest" or "allow"',
    ],
    [
      "a misspelt key",
      { budgets: [{ usd: 1, pre: "day" }] },
      'budgets[0].pre: unknown key "pre"; did you mean "per"?',
    ],
    [
      "two that count alike",
      {
        tools: {
          codex: {
            budgets: [
              { usd: 1, per: "day" },
              { tokens: 1, per: "day" },
              { usd: 2, per: "day", action: "warn" },
            ],
          },
        },
      },
      'tools.codex.budgets: has two budgets that count alike; keep one, and let "warn" name the lower limit as a share',
    ],
    [
      "a budget of a key's value",
      { keys: { "sk-abc": {} } },
      'keys.[hidden]: a key never belongs in this file; replace it with a name such as "default", then type: tollkeeper key set',
    ],
    [
      "a relative project",
      { ledger: { project: true }, projects: { shop: {} } },
      'projects.shop: must be an absolute path, or start with "~/"',
    ],
    [
      "a project that is not recorded",
      { projects: { "/shop": { budgets: [] } } },
      'projects: needs "ledger": { "project": true }, without which no request has a project',
    ],
  ];
  for (const [what, file, problem] of cases) assert.deepEqual(problemsOf(file), [problem], what);
});
