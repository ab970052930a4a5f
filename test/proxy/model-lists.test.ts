import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import {
  startGateWithUpstreams,
  useConfig,
  type NamedUpstream,
} from "../helpers/gate/gate-with-upstreams.ts";
import { sendJson, type Script } from "../helpers/upstream/scripted-upstream.ts";

const lists =
  (...ids: string[]): Script =>
  (_seen, res) =>
    sendJson(res, { data: ids.map((id) => ({ id, from: ids[0] })) });

/** Measured with 2.1.197: its request for the list fails after this time (docs/wire.md section 4). */
const CLAUDE_CODE_LIMIT_MS = 3_000;

/** A gate in front of several upstreams, each with a key of its own. */
async function start(t: TestContext, named: Record<string, NamedUpstream>) {
  const { gate, upstreams } = await startGateWithUpstreams(t, named);
  const list = async (
    headers: Record<string, string> = {},
    query = "",
    signal: AbortSignal | null = null,
  ) => {
    const response = await fetch(`${gate.url}/v1/models${query}`, { headers, signal });
    const body = (await response.json()) as { data: { id: string }[]; [name: string]: unknown };
    return { response, body, ids: body.data.map(({ id }) => id) };
  };
  return { gate, list, upstreams };
}

test("the lists of all upstreams are merged in the order of the file, and only models that would be served there are listed", async (t) => {
  const { list, upstreams } = await start(t, {
    local: { script: lists("qwen3", "gpt-5", "other"), settings: { models: ["qwen*"] } },
    anthropic: { script: lists("claude-a", "qwen3"), settings: { apis: ["messages"], auth: "x-api-key" } },
    openai: { script: lists("gpt-5", "gpt-5-mini") },
  });
  const { response, body, ids } = await list();
  assert.deepEqual([response.status, body["object"]], [200, "list"]);
  assert.deepEqual(ids, ["qwen3", "claude-a", "gpt-5", "gpt-5-mini"]);
  assert.equal(response.headers.get("x-tollkeeper-missing-upstreams"), null);
  assert.deepEqual(
    Object.values(upstreams).map(({ seen }) => seen[0]?.url),
    ["/v1/models", "/v1/models?limit=1000", "/v1/models"],
  );
  for (const [name, { seen }] of Object.entries(upstreams)) {
    const keys = seen[0]?.rawHeaders.join("\n").match(/sk-\w+-4711-sentinel/g);
    assert.deepEqual(keys, [`sk-${name}-4711-sentinel`]);
  }
});

test("a client of the Messages API gets its shape, with pages", async (t) => {
  const { list } = await start(t, {
    a: { script: lists("m1", "m2"), settings: { models: ["m*"] } },
    b: { script: lists("n1") },
  });
  const { body, ids } = await list({ "anthropic-version": "2023-06-01" }, "?limit=2&after_id=m1");
  assert.deepEqual(ids, ["m2", "n1"]);
  assert.deepEqual([body["has_more"], body["first_id"], body["last_id"]], [false, "m2", "n1"]);
});

test("an upstream that fails is named in a header, and the others are listed", async (t) => {
  const { list, gate } = await start(t, {
    broken: { script: (_seen, res) => sendJson(res, { error: "no" }, 500), settings: { models: ["x*"] } },
    page: { script: (_seen, res) => res.end("<html>"), settings: { models: ["y*"] } },
    good: { script: lists("a") },
  });
  const { response, ids } = await list();
  assert.deepEqual(ids, ["a"]);
  assert.equal(response.headers.get("x-tollkeeper-missing-upstreams"), "broken, page");
  const [destination] = gate.gate.settings.destinations;
  assert.match(gate.gate.models.problemOf(destination) ?? "", /responded with 500/);
});

test("an upstream that does not answer is left out before Claude Code gives up, and is there once it has answered", async (t) => {
  let answer: (() => void) | null = null;
  const { list, upstreams } = await start(t, {
    slow: {
      script: (seen, res) => void (answer = () => lists("x1")(seen, res)),
      settings: { models: ["x*"] },
    },
    good: { script: lists("a") },
  });
  const first = await list({}, "", AbortSignal.timeout(CLAUDE_CODE_LIMIT_MS));
  assert.deepEqual(
    [first.ids, first.response.headers.get("x-tollkeeper-missing-upstreams")],
    [["a"], "slow"],
  );
  const second = list();
  assert.ok(answer !== null);
  (answer as () => void)();
  assert.deepEqual((await second).ids, ["x1", "a"]);
  assert.deepEqual([upstreams["slow"]?.seen.length, upstreams["good"]?.seen.length], [1, 1]);
});

test("a list is asked for once a minute, however often clients want it", async (t) => {
  const { list, upstreams } = await start(t, {
    a: { script: lists("m1"), settings: { models: ["m*"] } },
    b: { script: lists("n") },
  });
  await Promise.all([list(), list(), list()]);
  await list();
  assert.deepEqual([upstreams["a"]?.seen.length, upstreams["b"]?.seen.length], [1, 1]);
});

test("a key that an upstream writes into its list is redacted", async (t) => {
  const { list } = await start(t, {
    a: {
      script: (seen, res) => sendJson(res, { data: [{ id: "m1", echo: seen.headers.authorization }] }),
      settings: { models: ["m*"] },
    },
    b: { script: lists("n") },
  });
  const { body } = await list();
  assert.ok(!JSON.stringify(body).includes("sentinel"));
});

test("in token mode the list is for clients with a token only", async (t) => {
  const { gate } = await start(t, { a: { script: lists("m") }, b: { script: lists("n") } });
  useConfig(gate, { access: { mode: "token", peerUid: [] } });
  const response = await fetch(`${gate.url}/v1/models`);
  assert.equal(response.headers.get("x-tollkeeper-refusal"), "token_required");
});
