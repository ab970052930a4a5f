import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import type { BudgetsStatus } from "../../../src/core/budget/budget-status.ts";
import { startDaemonWithUpstream } from "../../helpers/daemon/daemon-with-upstream.ts";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { post } from "../../helpers/gate/gate.ts";

const LIMIT = { timeout: 300_000 };

const BODY = { model: "claude-sonnet-5", max_tokens: 2, messages: [] };

async function start(t: TestContext, config: object) {
  const { daemon } = await startDaemonWithUpstream(t, undefined, { config });
  const send = async (tool = "codex") => {
    const response = await post(daemon, `/t/${tool}/v1/messages`, BODY);
    await response.text();
    return response.status;
  };
  return { daemon, send };
}

const CONFIG = {
  tools: { codex: { budgets: [{ tokens: 10, per: "month" }] } },
  budgets: [
    { usd: 300, per: "month", action: "warn" },
    { tokens: 100, class: "output", rolling: 5 },
  ],
};

test("budget shows what is spent and left of each, and when it begins again", LIMIT, async (t) => {
  const { daemon, send } = await start(t, CONFIG);
  assert.deepEqual([await send(), await send(), await send()], [200, 200, 402]);
  const { code, stdout } = await daemon.command("budget");
  assert.equal(code, 0);
  const rows = stdout.split("\n").map((line) => line.split(/ {2,}/));
  const heads = ["budget for", "limit", "when spent", "spent", "amount", "left", "per hour", "then"];
  assert.deepEqual(rows[0], heads);
  const [codex = [], all = [], output = []] = rows.slice(1);
  assert.deepEqual(codex.slice(0, 6), [
    "codex",
    "10 tokens per month",
    "██████████",
    "100% refuses",
    "10",
    "0",
  ]);
  assert.match(codex.at(-1) ?? "", /^again from \d{4}-\d\d-01, 00:00$|^again from tomorrow, 00:00$/);
  assert.deepEqual(all.slice(0, 4), ["all tools", "$300.00 per month", "warns", "░░░░░░░░░░"]);
  assert.equal(all[6], "$300.00");
  assert.deepEqual(output.slice(0, 2), ["all tools", "100 output in 5h"]);
  const { stdout: status } = await daemon.command("status");
  assert.match(status, /^budget {6}10 tokens per month for tool codex: 100% spent$/m);
});

test("budget --json has everything as data", LIMIT, async (t) => {
  const { daemon, send } = await start(t, CONFIG);
  await send();
  const { stdout } = await daemon.command("budget", "--json");
  const { budgets, lifts } = JSON.parse(stdout) as BudgetsStatus;
  const [first] = budgets;
  assert.deepEqual(
    [first?.id, first?.scope, first?.limit, first?.amount, first?.spent, first?.percent, lifts],
    [
      "tool codex: tokens per month",
      { kind: "tool", name: "codex" },
      { tokens: 10, class: null },
      "10",
      "5",
      50,
      [],
    ],
  );
});

test("budget lift lets a tool go on, says until when, and ends", LIMIT, async (t) => {
  const { daemon, send } = await start(t, CONFIG);
  await send();
  await send();
  assert.equal(await send(), 402);
  const lifted = await daemon.command("budget", "lift", "codex", "--for", "2d");
  assert.match(lifted.stdout, /^Budgets for codex are lifted until \w+ [\d-]+, \d\d:\d\d\.\n$/);
  assert.equal(await send(), 200);
  assert.match((await daemon.command("status")).stdout, /^lifted +Budgets for codex are lifted until /m);
  const ended = await daemon.command("budget", "lift", "codex", "--end");
  assert.equal(ended.stdout, "Budgets refuse codex again once they are spent.\n");
  assert.equal(await send(), 402);
});

test("budget reset names a budget by whom it is for, or by its name", LIMIT, async (t) => {
  const { daemon, send } = await start(t, CONFIG);
  await send();
  await send();
  assert.equal(await send(), 402);
  const done = await daemon.command("budget", "reset", "codex");
  assert.match(done.stdout, /^Nothing is spent of 10 tokens per month for tool codex now/);
  assert.equal(await send(), 200);
  const unclear = await daemon.command("budget", "reset", "all");
  assert.deepEqual([unclear.code, unclear.stdout], [1, ""]);
  assert.match(
    unclear.stderr,
    /"all" stands for several budgets\n.*tollkeeper budget reset 'all: usd per month'\n.*or: tollkeeper budget reset 'all: output tokens in 5 hours'/,
  );
});

for (const [args, message] of [
  [["lift"], /name a tool, or --all/],
  [["lift", "codex", "--all"], /"codex" and --all cannot be used together/],
  [["lift", "codex", "--for", "soon"], /"soon" is not a duration/],
  [["lift", "codex", "--for", "32d"], /32d is longer than 31 days/],
  [["set", "codex", "--all", "--usd", "1", "--per", "day"], /"codex" and --all cannot be used together/],
  [["set", "--usd", "1", "--per", "day"], /a tool, group, project or key is missing/],
] as const) {
  test(`budget ${args.join(" ")} is wrong usage`, LIMIT, async (t) => {
    const { code, stderr } = await prepareHome(t, { config: {} }).command("budget", ...args);
    assert.equal(code, 2);
    assert.match(stderr, message);
  });
}

test("without a daemon, budget says how to start one", LIMIT, async (t) => {
  const { code, stderr } = await prepareHome(t, { config: {} }).command("budget");
  assert.equal(code, 1);
  assert.match(stderr, /tollkeeper is not running/);
});

test("without a budget, budget says how to set one", LIMIT, async (t) => {
  const { daemon } = await start(t, {});
  const { stdout } = await daemon.command("budget");
  assert.match(stdout, /^No budget is set\..*\n.*budget set codex --usd 20 --per day\n$/);
  const { stderr } = await daemon.command("budget", "lift", "codex");
  assert.match(stderr, /the configuration has no budget/);
});

test(
  "budget set writes into the configuration, keeps comments, and changes what counts alike",
  LIMIT,
  async (t) => {
    const home = prepareHome(t, { config: {} });
    const set = (...args: string[]) => home.command("budget", "set", ...args);
    const text = `{
  // Why there is a limit.
  "tools": { "codex": { "budgets": [
    { "usd": 5, "per": "day" } // A comment at the first.
  ] } },
  "groups": { "small": {} },
}
`;
    writeFileSync(home.configFile, text);
    const first = await set("codex", "--usd", "20.5", "--per", "day");
    assert.match(first.stdout, /^The budget is \$20\.50 per day for tool codex, set in /);
    await set("codex", "--tokens", "2000000", "--class", "output", "--rolling", "5");
    await set("--group", "small", "--usd", "1", "--per", "week", "--warn-only");
    await set("--all", "--usd", "300", "--per", "month");
    await set("--key", "work", "--usd", "9", "--per", "hour", "--new");
    const after = readFileSync(home.configFile, "utf8");
    assert.match(after, /\/\/ Why there is a limit\./);
    assert.match(after, /\/\/ A comment at the first\./);
    const { stdout } = await home.command("config", "check");
    assert.deepEqual(stdout.match(/^budget: .*$/gm), [
      "budget: $20.50 per day for tool codex",
      "budget: 2,000,000 output tokens in 5 hours for tool codex",
      "budget: $1.00 per week for group small, only warns",
      "budget: $9.00 per hour for key work",
      "budget: $300.00 per month for all tools together",
    ]);
    const refused = await set("codex", "--usd", "1", "--per", "day", "--class", "output");
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /^error: --class belongs to --tokens/);
    assert.equal(readFileSync(home.configFile, "utf8"), after);
  },
);
