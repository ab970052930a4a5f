import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Upstream } from "../../src/core/config/config.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { startGateWithUpstreams, useConfig } from "../helpers/gate/gate-with-upstreams.ts";
import { ManualClock } from "../helpers/gate/memory.ts";
import { post } from "../helpers/gate/gate.ts";
import { respondWithMessage, sendJson, type Script } from "../helpers/upstream/scripted-upstream.ts";

const RULES = {
  tools: { codex: { group: "small" }, zed: { group: "free" }, "*": { group: "others" } },
  groups: { small: { models: ["gpt-5-mini", "good*"] }, others: { models: ["good"] }, free: {} },
};

interface Setup {
  script?: Script;
  upstream?: Partial<Upstream>;
  rules?: Parameters<typeof rulesForTools>[0];
}

function start(t: TestContext, { script = respondWithMessage, upstream = {}, rules = RULES }: Setup = {}) {
  return startGateWithUpstream(t, script, { config: rulesForTools(rules), upstream });
}

interface ErrorBody {
  error: { message: string; type: string; code?: string };
}

for (const [path, status, type] of [
  ["/v1/messages", 402, "billing_error"],
  ["/v1/messages/count_tokens", 402, "billing_error"],
  ["/v1/responses", 400, "invalid_request_error"],
  ["/v1/chat/completions", 400, "invalid_request_error"],
  ["/v1/completions", 400, "invalid_request_error"],
  ["/v1/embeddings", 400, "invalid_request_error"],
] as const) {
  test(`a model that the tool's group does not allow is refused on ${path} before anything leaves, and recorded`, async (t) => {
    const { gate, upstream } = await start(t);
    const response = await post(gate, `/t/codex${path}`, { model: "gpt-5", input: "x" });
    const { error } = (await response.json()) as ErrorBody;
    assert.deepEqual([response.status, error.type], [status, type]);
    assert.equal(response.headers.get("x-should-retry"), "false");
    assert.equal(response.headers.get("x-tollkeeper-refusal"), "model_not_allowed");
    assert.equal(
      error.message,
      "tollkeeper: group small does not allow the model: groups.small.models allows gpt-5-mini, good*; codex asked for gpt-5. Type: tollkeeper config edit",
    );
    assert.equal(upstream.seen.length + upstream.sockets.size, 0);
    const record = await gate.ledger.only();
    assert.deepEqual(
      [
        record.tool,
        record.outcome,
        record.error_type,
        record.status,
        record.model_requested,
        record.bytes_in,
      ],
      ["codex", "rejected", "model_not_allowed", status, "gpt-5", 0],
    );
    assert.equal(gate.keys.reads, 0);
  });

  test(`a model that the tool's group allows passes on ${path} byte for byte`, async (t) => {
    const { gate, upstream } = await start(t);
    const body = '{ "model" : "gpt-5-mini",\t"input":"x" }';
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${gate.url}/t/codex${path}`, { method: "POST", headers, body });
    assert.equal(response.status, 200);
    assert.equal(upstream.seen[0]?.body.toString(), body);
  });
}

test("a tool has the group that it names, or else that of all others; a group without models limits nothing", async (t) => {
  const { gate } = await start(t);
  const statusOf = async (tool: string, model: string) => {
    const response = await post(gate, `/t/${tool}/v1/messages`, { model });
    await response.text();
    return response.status;
  };
  assert.deepEqual(
    await Promise.all([
      statusOf("codex", "gpt-5-mini"),
      statusOf("pi", "gpt-5-mini"),
      statusOf("pi", "good"),
      statusOf("zed", "anything"),
    ]),
    [200, 402, 200, 200],
  );
});

test("the model that counts is the one that the upstream reads: what an alias stands for", async (t) => {
  const { gate, upstream } = await start(t, {
    rules: { ...RULES, aliases: { cheap: "gpt-5", expensive: "gpt-5-mini", "gpt-5-mini-x": "good" } },
  });
  const ask = async (model: string) => {
    const response = await post(gate, "/t/codex/v1/responses", { model });
    return { status: response.status, text: await response.text() };
  };
  const refused = await ask("cheap");
  assert.equal(refused.status, 400);
  assert.match(refused.text, /codex asked for cheap, an alias of gpt-5\. Type: tollkeeper config edit"/);
  assert.equal((await ask("expensive")).status, 200);
  assert.deepEqual(
    upstream.seen.map(({ body }) => body.toString()),
    ['{"model":"gpt-5-mini"}'],
  );
  const [record] = gate.ledger.records;
  assert.deepEqual([record?.model_requested, record?.alias], ["cheap", "gpt-5"]);
});

const broken: Script = (_seen, res) => sendJson(res, { error: "no" }, 503);

test("a fallback gets no model that the group does not allow, and a refused request asks no upstream at all", async (t) => {
  const { gate, upstreams } = await startGateWithUpstreams(t, {
    main: { script: broken, settings: { fallback: ["spare"], models: ["gpt-5-mini"] } },
    spare: { script: respondWithMessage },
  });
  useConfig(gate, rulesForTools(RULES));
  assert.equal((await post(gate, "/t/codex/v1/messages", { model: "gpt-5" })).status, 402);
  assert.deepEqual([upstreams.main.seen.length, upstreams.spare.seen.length], [0, 0]);
  assert.equal((await post(gate, "/t/codex/v1/messages", { model: "gpt-5-mini" })).status, 200);
  assert.deepEqual([upstreams.main.seen.length, upstreams.spare.seen.length], [1, 1]);
});

test("a refused request is not the one that tries a broken upstream again", async (t) => {
  const clock = new ManualClock();
  const { gate, upstreams } = await startGateWithUpstreams(
    t,
    { main: { script: broken, settings: { fallback: ["spare"] } }, spare: { script: respondWithMessage } },
    { clock },
  );
  useConfig(gate, rulesForTools(RULES));
  for (let n = 0; n < 3; n += 1) await post(gate, "/t/codex/v1/messages", { model: "good" });
  clock.advance(30_000);
  assert.equal((await post(gate, "/t/codex/v1/messages", { model: "evil" })).status, 402);
  assert.deepEqual([gate.gate.cooldownOf("main"), upstreams.main.seen.length], [0, 3]);
  assert.equal((await post(gate, "/t/codex/v1/messages", { model: "good" })).status, 200);
  assert.equal(upstreams.main.seen.length, 4);
});

const EXTRA = [
  { method: "GET", path: "/models/{id}", auth: "bearer", dialect: "none", spend: "never", accepts: ["json"] },
  {
    method: "GET",
    path: "/responses/{id}",
    auth: "bearer",
    dialect: "responses",
    spend: "never",
    accepts: ["json"],
  },
  {
    method: "POST",
    path: "/images/generations",
    auth: "bearer",
    dialect: "none",
    spend: "count",
    accepts: ["json"],
  },
  {
    method: "POST",
    path: "/responses/{id}/cancel",
    auth: "bearer",
    dialect: "none",
    spend: "never",
    accepts: ["json"],
  },
] as const;

for (const [method, path, body, status] of [
  ["GET", "/models/good-one", null, 200],
  ["GET", "/models/evil", null, 400],
  ["GET", "/responses/resp_1", null, 200],
  ["POST", "/images/generations", { model: "good" }, 200],
  ["POST", "/images/generations", { model: "evil" }, 400],
  ["POST", "/images/generations", { prompt: "x" }, 400],
  ["POST", "/responses/resp_1/cancel", {}, 200],
] as const) {
  test(`on a route of the configuration, ${method} ${path} with ${JSON.stringify(body)} gets ${status}`, async (t) => {
    const { gate, upstream } = await start(t, {
      upstream: { routes: EXTRA.map((route) => ({ ...route, accepts: [...route.accepts] })) },
    });
    const response = await fetch(`${gate.url}/t/codex/v1${path}`, {
      method,
      ...(body !== null && {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
    await response.text();
    assert.deepEqual([response.status, upstream.seen.length], [status, status === 200 ? 1 : 0]);
  });
}

const entry = (id: string) => ({ id, from: "upstream", context_length: 9 });

const lists =
  (...ids: string[]): Script =>
  (_seen, res) =>
    sendJson(res, { data: ids.map(entry) });

test("the list of models has what the tool may request, each entry as it came, also of a single upstream", async (t) => {
  const { gate, upstream } = await start(t, {
    script: lists("gpt-5", "gpt-5-mini", "good-1", "cheap", "expensive"),
    rules: { ...RULES, aliases: { cheap: "gpt-5", expensive: "gpt-5-mini" } },
  });
  const list = async (tool: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${gate.url}/t/${tool}/v1/models`, { headers });
    return (await response.json()) as { data: { id: string }[]; has_more?: boolean };
  };
  assert.deepEqual((await list("codex")).data, ["gpt-5-mini", "good-1", "expensive"].map(entry));
  assert.deepEqual(
    (await list("zed")).data.map(({ id }) => id),
    ["gpt-5", "gpt-5-mini", "good-1", "cheap", "expensive"],
  );
  assert.deepEqual((await list("pi")).data, []);
  assert.equal((await list("codex", { "anthropic-version": "2023-06-01" })).has_more, false);
  assert.deepEqual(
    upstream.seen.map(({ url }) => url),
    ["/v1/models", "/v1/models"],
    "the list of codex is kept, and that of zed passes through",
  );
});

test("a body that is refused is not waited for: the refusal of a forbidden model needs only its beginning", async (t) => {
  const { gate, upstream } = await start(t);
  const head = `{"model":"gpt-5","input":"${"x".repeat(1000)}`;
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(head)),
  });
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  const response = await fetch(`${gate.url}/t/codex/v1/messages`, init);
  assert.equal(response.status, 402);
  assert.equal(upstream.sockets.size, 0);
});

test("without a group that limits a tool, no byte of its requests waits for the model", async (t) => {
  const { gate, upstream } = await start(t, {
    rules: { tools: { codex: { group: "small" } }, groups: RULES.groups },
  });
  const headers = { "content-type": "application/json" };
  const body = '{"model":"a","model":"b"}';
  const response = await fetch(`${gate.url}/t/zed/v1/messages`, { method: "POST", headers, body });
  assert.deepEqual([response.status, upstream.seen[0]?.body.toString()], [200, body]);
});
