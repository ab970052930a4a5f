import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { withResolvers } from "../helpers/async/with-resolvers.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { startGateWithHeldUpstream, startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { startGateWithUpstreams } from "../helpers/gate/gate-with-upstreams.ts";
import { post, withLimits } from "../helpers/gate/gate.ts";
import { RecordingBudgets } from "../helpers/gate/recording-budgets.ts";
import { respondWithMessage, sendJson, type Script } from "../helpers/upstream/scripted-upstream.ts";

const LIMIT = { timeout: 300_000 };

/** codex and its group have budgets; other tools have none. */
const FILE = {
  tools: { codex: { budgets: [{ usd: 1, per: "day" }] }, zed: { group: "small" }, pi: { group: "free" } },
  groups: { small: { budgets: [{ tokens: 1, per: "hour" }] }, free: {} },
};

async function start(t: TestContext, script: Script = respondWithMessage, file: object = FILE) {
  const budgets = new RecordingBudgets();
  const config = rulesForTools(file);
  return { budgets, ...(await startGateWithUpstream(t, script, { config, budgets })) };
}

const BODY = { model: "claude-sonnet-5", max_tokens: 9, messages: [] };

test("budgets are told whose request it is, and what it may spend", LIMIT, async (t) => {
  const { gate, budgets } = await start(t, respondWithMessage, {
    ...FILE,
    aliases: { fast: "claude-haiku-4-5" },
  });
  await post(gate, "/t/codex/v1/messages", BODY);
  await post(gate, "/t/zed/v1/responses", { model: "fast", input: "x", max_output_tokens: 1_000 });
  await post(gate, "/t/codex/v1/chat/completions", { stream: false, max_completion_tokens: 5, model: "m" });
  const shared = {
    project: null,
    key: "default",
    upstream: "default",
    previous: null,
    cachesLong: false,
    reasons: null,
    tier: null,
    speed: null,
    geo: null,
    choices: 1,
    seconds: null,
    parts: null,
  };
  assert.deepEqual(budgets.asked, [
    { tool: "codex", ...shared, model: "claude-sonnet-5", input: 19, output: 9 },
    { tool: "zed", ...shared, model: "claude-haiku-4-5", input: 18, output: 1_000 },
    { tool: "codex", ...shared, model: "m", input: 18, output: 5 },
  ]);
});

for (const [what, body, output] of [
  ["after a long text", `{"model":"m","input":"${"x ".repeat(60_000)}","max_output_tokens":100000}`, 100_000],
  ["in quotes", '{"model":"m","max_tokens":"100000"}', 100_000],
  ["with an exponent", '{"model":"m","max_tokens":1e5}', 100_000],
  ["with an escaped name", String.raw`{"model":"m","max\u005ftokens":100000.0}`, 100_000],
  ["for several choices", '{"n":8,"model":"m","max_tokens":100}', 800],
  ["in a body that is not JSON", '{"a":NaN,"model":"m","max_tokens":100000}', 100_000],
] as const) {
  test(`budgets are told the limit of the output that stands ${what}`, LIMIT, async (t) => {
    const { gate, budgets, upstream } = await start(t);
    const headers = { "content-type": "application/json" };
    await (await fetch(`${gate.url}/t/codex/v1/messages`, { method: "POST", headers, body })).text();
    assert.deepEqual(
      budgets.asked.map((asked) => asked.output),
      [output],
    );
    assert.equal(upstream.seen[0]?.body.toString(), body);
  });
}

test("a client that waits for 100 Continue sends its body to be read for budgets", LIMIT, async (t) => {
  const { gate, budgets, upstream } = await start(t);
  const headers = { "content-type": "application/json", expect: "100-continue" };
  const sent = request(`${gate.url}/t/codex/v1/messages`, { method: "POST", headers });
  sent.flushHeaders();
  await once(sent, "continue");
  sent.end(JSON.stringify({ ...BODY, max_tokens: 100_000 }));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  assert.equal(response.statusCode, 200);
  assert.deepEqual([budgets.asked[0]?.output, upstream.seen.length], [100_000, 1]);
});

for (const file of [
  { budgets: [{ usd: 1, per: "day" }] },
  { keys: { other: { budgets: [{ usd: 1, per: "day" }] } } },
  { projects: { "/home/ada/shop": { budgets: [{ usd: 1, per: "day" }] } } },
]) {
  test(
    `every request is asked about where there are ${Object.keys(file).join()} with budgets`,
    LIMIT,
    async (t) => {
      const { gate, budgets } = await start(t, respondWithMessage, file);
      await post(gate, "/v1/messages", BODY);
      await post(gate, "/t/made-up/v1/messages", BODY);
      assert.deepEqual(
        budgets.asked.map(({ tool }) => tool),
        ["unknown", "made-up"],
      );
    },
  );
}

test("a tool without budgets, and requests that never spend, are not asked about", LIMIT, async (t) => {
  const { gate, budgets, upstream } = await start(t);
  budgets.refuses = () => true;
  await post(gate, "/t/pi/v1/messages", BODY);
  await post(gate, "/v1/messages", BODY);
  await post(gate, "/t/codex/v1/messages/count_tokens", BODY);
  await fetch(`${gate.url}/t/codex/v1/models`);
  assert.deepEqual([budgets.asked.length, upstream.seen.length], [0, 4]);
});

for (const [path, status, type] of [
  ["/v1/messages", 402, "billing_error"],
  ["/v1/responses", 400, "invalid_request_error"],
  ["/v1/chat/completions", 400, "invalid_request_error"],
] as const) {
  test(`what a budget refuses on ${path} does not leave, and is recorded`, LIMIT, async (t) => {
    const { gate, budgets, upstream } = await start(t);
    budgets.refuses = () => true;
    const response = await post(gate, `/t/codex${path}`, BODY);
    const { error } = (await response.json()) as { error: { message: string; type: string } };
    assert.deepEqual([response.status, error.type], [status, type]);
    assert.equal(response.headers.get("x-should-retry"), "false");
    assert.equal(response.headers.get("x-tollkeeper-budget"), null);
    assert.equal(error.message, "tollkeeper: a budget is spent. Type: tollkeeper budget lift codex --for 1h");
    assert.equal(upstream.sockets.size + gate.keys.reads, 0);
    const record = await gate.ledger.only();
    assert.deepEqual(
      [record.outcome, record.error_type, record.status, record.model_requested],
      ["rejected", "budget_spent", status, "claude-sonnet-5"],
    );
  });
}

test("responses say how much is spent of the budget of which the most is", LIMIT, async (t) => {
  const { gate, budgets } = await start(t, (_seen, res) => {
    res.setHeader("x-tollkeeper-budget", "1%");
    sendJson(res, {});
  });
  budgets.percent = 82;
  const response = await post(gate, "/t/codex/v1/messages", BODY);
  assert.equal(response.headers.get("x-tollkeeper-budget"), "82%");
  const free = await post(gate, "/t/pi/v1/messages", BODY);
  assert.equal(free.headers.get("x-tollkeeper-budget"), null);
});

test(
  "what is reserved is noted before the request leaves, and nothing where no budget is",
  LIMIT,
  async (t) => {
    const noted: number[] = [];
    const { gate } = await start(t, (seen, res) => {
      noted.push(gate.ledger.unsent.length);
      respondWithMessage(seen, res);
    });
    await (await post(gate, "/t/codex/v1/messages", BODY)).text();
    await (await post(gate, "/t/pi/v1/messages", BODY)).text();
    await (await post(gate, "/t/codex/v1/messages/count_tokens", BODY)).text();
    const records = await gate.ledger.first(3);
    assert.deepEqual(noted, [1, 1, 1]);
    const [note] = gate.ledger.unsent;
    assert.deepEqual(
      [note?.id, note?.outcome, note?.cut_by, note?.usage, note?.reserved_input, note?.reserved_output],
      [records[0]?.id, "cut", "crash", "absent", 19, 9],
    );
    assert.deepEqual([records[0]?.reserved_input, records[0]?.reserved_output], [null, null]);
  },
);

test("what is held back is released after the record was appended, and once", LIMIT, async (t) => {
  const { gate, budgets } = await start(t);
  const recorded: number[] = [];
  budgets.onRelease = () => recorded.push(gate.ledger.records.length);
  await (await post(gate, "/t/codex/v1/messages", BODY)).text();
  assert.deepEqual([recorded, budgets.held], [[1], 0]);
});

test(
  "what is held back for a stream is held until it ends, also when the client leaves",
  LIMIT,
  async (t) => {
    const budgets = new RecordingBudgets();
    const config = { ...rulesForTools(FILE), abort: { graceMs: 0 } };
    const { gate, held } = await startGateWithHeldUpstream(t, { config, budgets });
    const controller = new AbortController();
    const { signal } = controller;
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify(BODY);
    const asking = fetch(`${gate.url}/t/codex/v1/messages`, { method: "POST", headers, body, signal });
    await held;
    assert.equal(budgets.held, 1);
    controller.abort();
    await assert.rejects(asking);
    await gate.ledger.only();
    assert.equal(budgets.held, 0);
  },
);

for (const [what, path, body, headers] of [
  ["a body that is too large", "/t/codex/v1/messages", { ...BODY, system: "x".repeat(2_000) }, {}],
  ["a body that is not JSON", "/t/codex/v1/messages", "nothing", {}],
] as const) {
  test(`nothing stays held back after ${what}`, LIMIT, async (t) => {
    const budgets = new RecordingBudgets();
    const limits = withLimits({ bodyBytes: 1_000 }).config;
    const config = { ...rulesForTools(FILE), ...limits };
    const { gate } = await startGateWithUpstream(t, respondWithMessage, { config, budgets });
    await (await post(gate, path, body, headers)).text();
    assert.equal(budgets.held, 0);
  });
}

test("nothing stays held back when the key is missing", LIMIT, async (t) => {
  const { gate, budgets } = await start(t);
  gate.keys.values.clear();
  const response = await post(gate, "/t/codex/v1/messages", BODY);
  assert.equal(response.headers.get("x-tollkeeper-refusal"), "key_missing");
  assert.deepEqual([budgets.asked.length, budgets.held, budgets.released], [1, 0, 1]);
});

test("a body whose model cannot be read passes, and is judged without it", LIMIT, async (t) => {
  const { gate, budgets, upstream } = await start(t);
  const gzipped = gzipSync(JSON.stringify(BODY));
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  await fetch(`${gate.url}/t/codex/v1/messages`, { method: "POST", headers, body: gzipped });
  await post(gate, "/t/codex/v1/messages", { Model: "m" });
  await post(gate, "/t/codex/v1/messages", []);
  assert.deepEqual(
    budgets.asked.map(({ model, input }) => [model, input]),
    [
      [null, Math.ceil(gzipped.length / 3)],
      [null, 5],
      [null, 1],
    ],
  );
  assert.deepEqual(
    upstream.seen.map(({ body }) => body.toString("latin1")),
    [gzipped.toString("latin1"), '{"Model":"m"}', "[]"],
  );
});

test("a request waits until it is known what was spent before", LIMIT, async (t) => {
  const { gate, budgets, upstream } = await start(t);
  const { promise, resolve } = withResolvers<void>();
  budgets.counting = promise;
  const waiting = post(gate, "/t/codex/v1/messages", BODY);
  await (await post(gate, "/t/pi/v1/messages", BODY)).text();
  await setImmediate();
  assert.deepEqual([upstream.seen.length, budgets.asked.length], [1, 0]);
  budgets.counting = null;
  resolve();
  assert.equal((await waiting).status, 200);
  assert.deepEqual([budgets.asked.length, budgets.held], [1, 0]);
});

const TWO = {
  main: { script: (_seen, res) => sendJson(res, {}, 529), settings: { fallback: ["spare"] } },
  spare: { script: respondWithMessage, settings: {} },
} satisfies Parameters<typeof startGateWithUpstreams>[1];

test(
  "each attempt is asked about by its own upstream, and the first holds nothing back any more",
  LIMIT,
  async (t) => {
    const budgets = new RecordingBudgets();
    const { gate } = await startGateWithUpstreams(t, TWO, { config: rulesForTools(FILE), budgets });
    const heldAtSecond: number[] = [];
    budgets.refuses = ({ upstream }) => {
      if (upstream === "spare") heldAtSecond.push(budgets.held);
      return false;
    };
    const response = await post(gate, "/t/codex/v1/messages", BODY);
    assert.equal(response.status, 200);
    assert.deepEqual(
      budgets.asked.map(({ upstream }) => upstream),
      ["main", "spare"],
    );
    await gate.ledger.first(2);
    assert.deepEqual([heldAtSecond, budgets.held, budgets.released], [[0], 0, 2]);
  },
);

test("a budget may refuse the second attempt", LIMIT, async (t) => {
  const budgets = new RecordingBudgets();
  const { gate, upstreams } = await startGateWithUpstreams(t, TWO, { config: rulesForTools(FILE), budgets });
  budgets.refuses = ({ upstream }) => upstream === "spare";
  const response = await post(gate, "/t/codex/v1/messages", BODY);
  assert.equal(response.headers.get("x-tollkeeper-refusal"), "budget_spent");
  const records = await gate.ledger.first(2);
  const outcomes = new Map(records.map(({ upstream, outcome }) => [upstream, outcome]));
  assert.deepEqual([outcomes.get("main"), outcomes.get("spare")], ["error", "rejected"]);
  assert.deepEqual([upstreams.spare.seen.length, budgets.held], [0, 0]);
});

test(
  "where a circuit sends the request to another upstream first, that one is asked about",
  LIMIT,
  async (t) => {
    const budgets = new RecordingBudgets();
    const { gate, upstreams } = await startGateWithUpstreams(t, TWO, {
      config: rulesForTools(FILE),
      budgets,
    });
    for (let count = 0; count < 3; count += 1) await (await post(gate, "/t/codex/v1/messages", BODY)).text();
    await waitUntil("the circuit to open", () => (gate.gate.cooldownOf("main") === null ? null : true));
    budgets.refuses = ({ upstream }) => upstream === "spare";
    const response = await post(gate, "/t/codex/v1/messages", BODY);
    assert.equal(response.headers.get("x-tollkeeper-refusal"), "budget_spent");
    assert.deepEqual([upstreams.spare.seen.length, budgets.held], [3, 0]);
  },
);
