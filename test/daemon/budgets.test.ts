import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { askDaemon } from "../../src/adapters/control-socket.ts";
import type { BudgetsStatus } from "../../src/core/budget/budget-status.ts";
import { formatMoney, parseMoney, type Money } from "../../src/core/price/money.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { launchDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { noteNames } from "../helpers/ledger/notes.ts";
import { startTail } from "../helpers/daemon/tail.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import {
  MESSAGE,
  respondWithMessage,
  sendJson,
  startUpstream,
} from "../helpers/upstream/scripted-upstream.ts";
import { removeDirectory } from "../helpers/process/scratch-directory.ts";

const LIMIT = { timeout: 300_000 };

/** A token of input costs 0.001 dollars, one of output 0.01: a small message 0.003 + 0.02. */
const PRICES = { "*": { input: 1_000, output: 10_000 } };
const COST = 0.023;

const BODY = { model: "claude-sonnet-5", max_tokens: 2, messages: [] };

interface Home {
  config: object;
  start(changes?: object, env?: Record<string, string>): Promise<Daemon & { kill(): Promise<void> }>;
}

/** A home in which daemons are started one after the other, in front of one upstream. */
async function prepare(t: TestContext, script = respondWithMessage): Promise<Home> {
  const upstream = await startUpstream(t, script);
  const keyFile = writeKeyFile(t, upstream.baseUrl, "some-key");
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  const kills: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const kill of kills) await kill();
    removeDirectory(home);
  });
  const config = { ...keyFile.config, prices: PRICES };
  return {
    config,
    async start(changes = {}, env = {}) {
      const { ready, kill } = launchDaemon(home, { config: { ...config, ...changes }, env });
      kills.push(kill);
      return { ...(await ready), kill };
    },
  };
}

function ask(daemon: Daemon, command: "budgets" | "lift-budgets" | "reset-budget", query = {}) {
  const path = join(daemon.env["XDG_RUNTIME_DIR"] ?? "", "tollkeeper", "control.sock");
  return askDaemon(path, command, query) as Promise<BudgetsStatus>;
}

async function spent(daemon: Daemon): Promise<string[]> {
  return (await ask(daemon, "budgets")).budgets.map((budget) => budget.spent);
}

/** Posts a message and returns the refusal's code, or the status. */
async function send(daemon: Daemon, tool = "codex"): Promise<string | number> {
  const response = await post(daemon, `/t/${tool}/v1/messages`, BODY);
  await response.text();
  return response.headers.get("x-tollkeeper-refusal") ?? response.status;
}

const DAILY = { budgets: [{ usd: 0.069, per: "day" }] };

test("a budget refuses once it is spent, and a restart gives nothing back", LIMIT, async (t) => {
  const { start } = await prepare(t);
  const first = await start(DAILY);
  for (const percent of [0, 33, 66]) {
    const response = await post(first, "/t/codex/v1/messages", BODY);
    assert.deepEqual([response.status, response.headers.get("x-tollkeeper-budget")], [200, `${percent}%`]);
    await response.text();
  }
  const refused = await post(first, "/t/codex/v1/messages", BODY);
  assert.equal(refused.status, 402);
  const { error } = (await refused.json()) as { error: { message: string } };
  assert.match(
    error.message,
    /^tollkeeper: a budget is spent: \$0\.0690 per day for all tools together; \$0\.0690 spent\. It opens again tomorrow at 00:00\. Type: tollkeeper budget lift codex --for 1h$/,
  );
  assert.match(
    first.stderr(),
    /100% of a budget is spent: \$0\.0690 of \$0\.0690 per day for all tools together/,
  );
  await first.kill();
  const second = await start(DAILY);
  assert.equal(await send(second), "budget_spent");
  assert.deepEqual(await spent(second), ["0.069"]);
  assert.doesNotMatch(second.stderr(), /of a budget is spent/);
});

test("of 200 requests at once, as many are admitted as there is room for", LIMIT, async (t) => {
  const held: ServerResponse[] = [];
  const { start } = await prepare(t, (_seen, res) => void held.push(res));
  // By its size a request may spend what it does spend: 75 bytes are 25 tokens of input.
  const body = { model: "m", max_tokens: 2, messages: [], system: "x".repeat(21) };
  assert.equal(JSON.stringify(body).length, 75);
  const daemon = await start({ budgets: [{ usd: 0.45, per: "day" }] });
  const answers = Array.from({ length: 200 }, () => post(daemon, "/t/codex/v1/messages", body));
  const refused: number[] = [];
  for (const answer of answers) void answer.then((response) => response.status === 402 && refused.push(402));
  await waitUntil("190 refusals", () => (refused.length === 190 ? true : null));
  await waitUntil("10 requests", () => (held.length === 10 ? true : null));
  const [budget] = (await ask(daemon, "budgets")).budgets;
  assert.deepEqual([budget?.spent, budget?.reserved, budget?.percent], ["0", "0.45", 0]);
  for (const res of held) sendJson(res, { ...MESSAGE, usage: { input_tokens: 25, output_tokens: 2 } });
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 10);
  assert.deepEqual(await spent(daemon), ["0.45"]);
  assert.equal(await send(daemon), "budget_spent");
});

test(
  "a daemon that is killed in mid-stream counts, once it is back, what its ledger says",
  LIMIT,
  async (t) => {
    const { start } = await prepare(t, (seen, res) => {
      if (seen.body.includes("hang"))
        res.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n\n");
      else respondWithMessage(seen, res);
    });
    const config = { budgets: [{ usd: 100_000, per: "month" }], ledger: { noteAfterMs: 500 } };
    for (let round = 1; round <= 3; round += 1) {
      const daemon = await start(config);
      for (let count = 0; count < 4; count += 1) await send(daemon);
      const hanging = await post(daemon, "/t/codex/v1/messages", { ...BODY, system: "hang" });
      const { directory } = (await daemon.status()).ledger;
      await waitUntil("a note", () => (noteNames(directory).length === 1 ? true : null));
      await daemon.kill();
      // Until here it must not be collected as garbage: that would end its connection, and its note.
      await assert.rejects(hanging.text());
      const after = await start(config);
      const [budget] = (await ask(after, "budgets")).budgets;
      const records = await after.ledger();
      assert.equal(records.length, 5 * round);
      const known = records.filter(({ tokens }) => tokens !== null).length;
      const all = parseMoney(budget?.spent ?? "") ?? 0n;
      const assumed: Money = parseMoney(budget?.assumed ?? "") ?? 0n;
      assert.deepEqual([formatMoney(all - assumed), assumed > 0n], [`${(known * 23) / 1_000}`, true]);
      await after.kill();
    }
  },
);

test("a lift lets a tool go on, other tools not, survives a restart, and can be ended", LIMIT, async (t) => {
  const { start } = await prepare(t);
  const first = await start({ budgets: [{ usd: 0, per: "day" }] });
  assert.equal(await send(first), "budget_spent");
  const { lifts } = await ask(first, "lift-budgets", { tool: "codex", ms: "3600000" });
  assert.deepEqual(
    lifts.map(({ tool }) => tool),
    ["codex"],
  );
  assert.deepEqual([await send(first), await send(first, "zed")], [200, "budget_spent"]);
  await first.kill();
  const second = await start({ budgets: [{ usd: 0, per: "day" }] });
  assert.deepEqual([await send(second), await send(second, "zed")], [200, "budget_spent"]);
  assert.deepEqual((await ask(second, "lift-budgets", { tool: "codex", ms: "0" })).lifts, []);
  assert.equal(await send(second), "budget_spent");
  assert.equal((await ask(second, "lift-budgets", { ms: "60000" })).lifts[0]?.tool, null);
  assert.equal(await send(second, "zed"), 200);
});

test("a reset lets the window begin now, and survives a restart", LIMIT, async (t) => {
  const { start } = await prepare(t);
  const config = { tools: { codex: { budgets: [{ usd: COST, per: "month" }] } } };
  const first = await start(config);
  assert.deepEqual([await send(first), await send(first)], [200, "budget_spent"]);
  await assert.rejects(ask(first, "reset-budget", { id: "tool codex: usd per day" }), /there is no budget/);
  const { budgets } = await ask(first, "reset-budget", { id: "tool codex: usd per month" });
  assert.deepEqual(
    budgets.map((budget) => budget.spent),
    ["0"],
  );
  assert.deepEqual([await send(first), await send(first)], [200, "budget_spent"]);
  await first.kill();
  const second = await start(config);
  assert.deepEqual([await spent(second), await send(second)], [["0.023"], "budget_spent"]);
});

test(
  "a reload changes limits and never the count, and brings new budgets with what was spent",
  LIMIT,
  async (t) => {
    const { start, config } = await prepare(t);
    const daemon = await start(DAILY);
    for (let count = 0; count < 3; count += 1) await send(daemon);
    assert.equal(await send(daemon), "budget_spent");
    const reload = async (changes: object) => {
      writeFileSync(daemon.configFile, JSON.stringify({ listen: { port: 0 }, ...config, ...changes }));
      await daemon.command("config", "check");
      await askDaemon(join(daemon.env["XDG_RUNTIME_DIR"] ?? "", "tollkeeper", "control.sock"), "reload");
    };
    await reload({
      budgets: [
        { usd: 0.092, per: "day" },
        { tokens: 1_000, per: "month" },
      ],
    });
    await waitUntil("the new budget to count", async () =>
      (await spent(daemon)).join() === "0.069,15" ? true : null,
    );
    assert.deepEqual([await send(daemon), await send(daemon)], [200, "budget_spent"]);
    await reload({});
    await waitUntil("no budget", async () => ((await spent(daemon)).length === 0 ? true : null));
    assert.equal(await send(daemon), 200);
    await reload(DAILY);
    await waitUntil("the old budget", async () => ((await spent(daemon)).join() === "0.115" ? true : null));
    assert.equal(await send(daemon), "budget_spent");
  },
);

test("a daemon that gets its first budget while it runs counts what was spent before", LIMIT, async (t) => {
  const { start, config } = await prepare(t);
  const daemon = await start();
  await send(daemon);
  await assert.rejects(ask(daemon, "lift-budgets", { ms: "1" }), /the configuration has no budget/);
  writeFileSync(daemon.configFile, JSON.stringify({ listen: { port: 0 }, ...config, ...DAILY }));
  await waitUntil("the budget", async () => ((await spent(daemon)).join() === "0.023" ? true : null));
});

test("lifts and resets that cannot be read are forgotten, and that is said", LIMIT, async (t) => {
  const { start } = await prepare(t);
  const first = await start(DAILY);
  await ask(first, "lift-budgets", { ms: "60000" });
  await first.kill();
  const path = join(first.env["XDG_STATE_HOME"] ?? "", "tollkeeper", "budgets.json");
  assert.match(readFileSync(path, "utf8"), /"lifts":\[\{"tool":null/);
  writeFileSync(path, '{"v":1,');
  const second = await start(DAILY);
  assert.deepEqual((await ask(second, "budgets")).lifts, []);
  assert.match(second.stderr(), /lifts and resets of budgets, and the warnings given, cannot be read/);
});

test(
  "a warning is in the log and in tail, once in a window, and a notification where that is asked for",
  LIMIT,
  async (t) => {
    const { start } = await prepare(t);
    const programs = mkdtempSync(join(tmpdir(), "tollkeeper-"));
    t.after(() => rmSync(programs, { recursive: true, force: true }));
    const shown = join(programs, "shown");
    const notifier = process.platform === "darwin" ? "osascript" : "notify-send";
    const script = `#!/bin/sh\nfor last; do :; done\nprintf '%s\\n' "$last" >> '${shown}'\n`;
    writeFileSync(join(programs, notifier), script, { mode: 0o755 });
    const budgets = [
      { usd: 0.069, per: "day", warn: [0.3, 0.6], notify: true },
      { usd: 0.05, per: "month", action: "warn", warn: [0.9] },
    ];
    const daemon = await start({ budgets }, { PATH: `${programs}:${process.env["PATH"] ?? ""}` });
    const { lines } = await startTail(t, daemon);
    for (let count = 0; count < 3; count += 1) assert.equal(await send(daemon), 200);
    const notices = [
      "30% of a budget is spent: $0.0230 of $0.0690 per day for all tools together",
      "60% of a budget is spent: $0.0460 of $0.0690 per day for all tools together",
      "90% of a budget is spent: $0.0460 of $0.0500 per month for all tools together",
    ];
    const printed: string[] = [];
    while (printed.length < 6) printed.push(((await lines.next()) as { value: string }).value);
    assert.deepEqual(
      printed.filter((line) => line.includes("of a budget")).map((line) => line.replace(/^[\d:]{8} {2}/, "")),
      notices,
    );
    for (const notice of notices) assert.equal(daemon.stderr().split(notice).length, 2);
    const text = await waitUntil("two notifications", () => {
      const seen = existsSync(shown) ? readFileSync(shown, "utf8").trim().split("\n") : [];
      return seen.length === 2 ? seen : null;
    });
    assert.deepEqual(text.toSorted(), notices.slice(0, 2));
  },
);

test("a ledger that cannot be read refuses what has a budget, and nothing else", LIMIT, async (t) => {
  const { start } = await prepare(t);
  const config = { tools: { codex: { budgets: [{ usd: 1_000, per: "day" }] } } };
  const first = await start(config);
  await send(first);
  const { directory } = (await first.status()).ledger;
  await first.kill();
  // The next day, too: it may begin before the second start.
  for (const time of [Date.now(), Date.now() + 24 * 60 * 60 * 1000])
    mkdirSync(join(directory, `${new Date(time).toISOString().slice(0, 10)}.ndjson.gz`));
  const second = await start(config);
  assert.deepEqual([await send(second), await send(second, "zed")], ["budget_unknown", 200]);
  assert.match(second.stderr(), /the ledger cannot be counted for budgets/);
});
