// C11, a tool that goes on after its budget is spent: it is refused before anything leaves, whatever it calls itself where tokens say
// who it is, however many requests run at the same time, whatever becomes of the clock. And a tool that is paused: it gets nothing at all.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { DaemonBudgets } from "../../src/daemon/budgets.ts";
import { DaemonPauses } from "../../src/daemon/pauses.ts";
import { RecordFeed } from "../../src/daemon/record-feed.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { startGateWithUpstreams } from "../helpers/gate/gate-with-upstreams.ts";
import { post } from "../helpers/gate/gate.ts";
import { ManualClock, MemoryLedger, MemoryLog, MemoryTokens } from "../helpers/gate/memory.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { MESSAGE, sendJson, type Script } from "../helpers/upstream/scripted-upstream.ts";

const LIMIT = { timeout: 300_000 };
const HOUR_MS = 3_600_000;

/** By its size a request may have 42 tokens: 32 of input, for 95 bytes, and 10 of output. */
const BODY = { model: "m", max_tokens: 10, system: "x".repeat(40), messages: [] };

const RULES = rulesForTools({
  tools: { codex: { budgets: [{ tokens: 200, per: "hour" }] }, zed: {} },
});

/** A gate that demands tokens: codex has a budget of 200 tokens an hour, zed none. */
async function start(t: TestContext, script: Script, spare: Script = script) {
  const [tokens, log, clock] = [new MemoryTokens(), new MemoryLog(), new ManualClock()];
  const [codex, zed] = [tokens.add("codex"), tokens.add("zed")];
  const feed = new RecordFeed();
  const directory = scratchDirectory(t);
  const ledger = new MemoryLedger();
  const statePath = join(directory, "budgets.json");
  const budgets = new DaemonBudgets({ feed, ledger, statePath, managed: () => null, clock, log });
  const pauses = new DaemonPauses({ path: join(directory, "pauses.json"), clock, log });
  const { gate, upstreams } = await startGateWithUpstreams(
    t,
    { main: { script, settings: { fallback: ["spare"] } }, spare: { script: spare } },
    {
      tokens,
      clock,
      budgets,
      pauses,
      recordsTo: feed.publishing(ledger),
      config: { ...RULES, access: { mode: "token", peerUid: [] }, abort: { graceMs: 0 } },
    },
  );
  budgets.use(gate.gate.settings.config);
  await budgets.counting;
  const ask = async (token: string, path = "/v1/messages", headers = {}) => {
    const response = await post(gate, path, BODY, { "x-api-key": token, ...headers });
    await response.text();
    return response.headers.get("x-tollkeeper-refusal") ?? response.status;
  };
  const sent = () => upstreams.main.seen.length + upstreams.spare.seen.length;
  return { gate, clock, ledger, pauses, codex, zed, ask, sent, upstreams };
}

/** Spends 50 tokens. */
const spend: Script = (_seen, res) =>
  sendJson(res, { ...MESSAGE, usage: { input_tokens: 40, output_tokens: 10 } });

test(
  "a spent budget refuses whatever the tool calls itself, on every route that spends",
  LIMIT,
  async (t) => {
    const { ask, codex, zed, sent } = await start(t, spend);
    for (let count = 0; count < 4; count += 1) assert.equal(await ask(codex), 200);
    for (const [path, headers] of [
      ["/v1/messages", {}],
      ["/t/zed/v1/messages", {}],
      ["/v1/messages", { "x-tollkeeper-tool": "zed" }],
      ["/v1/messages?beta=true", {}],
      ["/v1/responses", {}],
      ["/v1/chat/completions", {}],
      ["/v1/completions", {}],
      ["/v1/embeddings", {}],
    ] as const)
      assert.equal(await ask(codex, path, headers), "budget_spent", path);
    assert.equal(sent(), 4);
    assert.equal(await ask(codex, "/v1/messages/count_tokens"), 200);
    assert.equal(await ask(zed, "/t/codex/v1/messages"), 200);
  },
);

test("of many requests at once, as many are admitted as there is room for", LIMIT, async (t) => {
  const held: ServerResponse[] = [];
  const { ask, codex, sent } = await start(t, (_seen, res) => void held.push(res));
  const answers = Array.from({ length: 50 }, () => ask(codex));
  let refused = 0;
  for (const answer of answers) void answer.then((result) => (refused += result === "budget_spent" ? 1 : 0));
  await waitUntil("all to be judged", () => (refused + held.length === 50 ? true : null));
  assert.deepEqual([refused, sent()], [45, 5]);
  for (const res of held) sendJson(res, MESSAGE);
  assert.equal((await Promise.all(answers)).filter((result) => result === 200).length, 5);
});

test(
  "after nine requests that cost little, a burst is reserved for by its size but for four of it",
  LIMIT,
  async (t) => {
    const held: ServerResponse[] = [];
    let isTiny = true;
    const { ask, codex, sent } = await start(t, (_seen, res) => {
      if (isTiny) sendJson(res, { ...MESSAGE, usage: { input_tokens: 1, output_tokens: 0 } });
      else held.push(res);
    });
    for (let count = 0; count < 9; count += 1) assert.equal(await ask(codex), 200);
    isTiny = false;
    const answers = Array.from({ length: 50 }, () => ask(codex));
    let refused = 0;
    for (const answer of answers)
      void answer.then((result) => (refused += result === "budget_spent" ? 1 : 0));
    await waitUntil("all to be judged", () => (refused + held.length === 50 ? true : null));
    // 9 tokens are spent, and of 200 four times 1 and five times 42 are reserved.
    assert.deepEqual([held.length, sent()], [9, 18]);
    for (const res of held) sendJson(res, MESSAGE);
    await Promise.all(answers);
  },
);

test("requests that their client abandons keep what was reserved for them", LIMIT, async (t) => {
  const { gate, ledger, codex, ask, sent } = await start(t, () => {});
  for (let count = 1; count <= 5; count += 1) {
    const controller = new AbortController();
    const asking = fetch(`${gate.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": codex },
      body: JSON.stringify(BODY),
      signal: controller.signal,
    });
    await waitUntil("the upstream to have it", () => (sent() === count ? true : null));
    controller.abort();
    await assert.rejects(asking);
    const record = (await ledger.first(count)).at(-1);
    assert.deepEqual([record?.usage, record?.reserved_input, record?.reserved_output], ["absent", 32, 10]);
  }
  // Of 200 tokens, 5 times 42 are spent.
  assert.equal(await ask(codex), "budget_spent");
  assert.equal(sent(), 5);
});

test("a clock that is set back, or leaps ahead for a moment, refills no budget", LIMIT, async (t) => {
  const { ask, codex, clock } = await start(t, spend);
  for (let count = 0; count < 4; count += 1) assert.equal(await ask(codex), 200);
  clock.wallMs -= 30 * 60_000;
  assert.equal(await ask(codex), "budget_spent");
  clock.wallMs += 90 * 60_000;
  assert.equal(await ask(codex), "budget_spent");
  clock.wallMs -= 60 * 60_000;
  clock.advance(1_000);
  assert.equal(await ask(codex), "budget_spent");
  clock.advance(HOUR_MS);
  assert.equal(await ask(codex), 200);
});

test("another attempt, at the fallback, is judged again", LIMIT, async (t) => {
  const { ask, codex, upstreams } = await start(
    t,
    (_seen, res) => {
      // What is spent meanwhile counts for the second attempt.
      void ask4(() => sendJson(res, {}, 529));
    },
    spend,
  );
  const ask4 = async (then: () => void) => {
    if (upstreams.main.seen.length > 1) return then();
    upstreams.main.respondWith(spend);
    for (let count = 0; count < 4; count += 1) await ask(codex);
    then();
  };
  assert.equal(await ask(codex), "budget_spent");
  assert.equal(upstreams.spare.seen.length, 0);
});

test("nothing on the TCP port lifts or resets a budget", LIMIT, async (t) => {
  const { gate, codex, ask } = await start(t, spend);
  for (let count = 0; count < 4; count += 1) await ask(codex);
  for (const path of [
    "/lift-budgets?ms=60000",
    "/reset-budget?id=tool%20codex",
    "/v1/lift-budgets?ms=60000",
    "/budgets",
  ]) {
    const response = await post(gate, path, {}, { "x-api-key": codex });
    assert.equal(response.status, 404, path);
  }
  assert.equal(await ask(codex), "budget_spent");
});

test("a paused tool gets nothing, whatever it calls itself, and other tools go on", LIMIT, async (t) => {
  const { ask, codex, zed, pauses, gate, sent } = await start(t, spend);
  pauses.pause({ kind: "tool", name: "codex" });
  for (const path of ["/v1/messages", "/t/zed/v1/messages", "/v1/messages/count_tokens", "/v1/responses"])
    assert.equal(await ask(codex, path), "paused", path);
  const models = await fetch(`${gate.url}/v1/models`, { headers: { "x-api-key": codex } });
  assert.equal(models.headers.get("x-tollkeeper-refusal"), "paused");
  assert.equal(sent(), 0);
  assert.equal(await ask(zed, "/t/codex/v1/messages"), 200);
  assert.equal(await ask("no token"), "token_required");
  for (const path of ["/resume?tool=codex", "/pause", "/v1/resume?tool=codex"])
    assert.equal((await post(gate, path, {}, { "x-api-key": zed })).status, 404);
  assert.equal(await ask(codex), "paused");
});
