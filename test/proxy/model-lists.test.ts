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
  const list = async (headers: Record<string, string> = {}, query = "") => {
    const response = await fetch(`${gate.url}/v1/models${query}`, { headers });
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
  const timers = t.mock.method(globalThis, "setTimeout");
  const first = await list();
  // How long it waits, not how long that takes: a busy machine takes longer.
  const waits = timers.mock.calls.map(({ arguments: [, ms = 0] }) => ms);
  assert.ok(waits.some((ms) => ms > 1_000 && ms < CLAUDE_CODE_LIMIT_MS));
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

const CODEX = { "user-agent": "codex_exec/0.169.0" };

/** Codex's own list to Codex, and any other client's to the others. */
const codexLists =
  (etag: string, ...slugs: string[]): Script =>
  (seen, res) => {
    if (!seen.url.includes("client_version=")) return lists(...slugs)(seen, res);
    const models = slugs.map((slug) => ({ slug, display_name: slug.toUpperCase(), priority: 1.0 }));
    res.setHeader("etag", etag);
    sendJson(res, { models });
  };

/** What Codex gets. */
async function askAsCodex(url: string, version = "0.169.0") {
  const response = await fetch(`${url}/v1/models?client_version=${version}`, { headers: CODEX });
  const body = (await response.json()) as { models?: { slug: string }[]; data?: { id: string }[] };
  const slugs = body.models?.map(({ slug }) => slug);
  return {
    slugs,
    body,
    etag: response.headers.get("etag"),
    missing: response.headers.get("x-tollkeeper-missing-upstreams"),
  };
}

test("Codex gets its own list from an upstream that is alone, byte for byte and with its version", async (t) => {
  const { gate, upstreams } = await start(t, { openai: { script: codexLists('"v7"', "gpt-5.5") } });
  const { body, etag } = await askAsCodex(gate.url);
  assert.deepEqual(body, { models: [{ slug: "gpt-5.5", display_name: "GPT-5.5", priority: 1 }] });
  assert.equal(etag, '"v7"');
  assert.equal(upstreams["openai"]?.seen[0]?.url, "/v1/models?client_version=0.169.0");
});

test("of several upstreams Codex gets one list in its own shape, of the models that its requests reach", async (t) => {
  const { gate, upstreams, list } = await start(t, {
    local: { script: lists("qwen3"), settings: { models: ["qwen*"] } },
    anthropic: { script: lists("claude-a"), settings: { apis: ["messages"], auth: "x-api-key" } },
    openai: {
      script: codexLists('"v7"', "gpt-5.5", "qwen-9", "gpt-5"),
      settings: { models: ["gpt*", "qwen*"] },
    },
    azure: { script: codexLists('"a1"', "gpt-5", "o-9"), settings: { apis: ["responses"] } },
  });
  const found = await askAsCodex(gate.url);
  assert.deepEqual(found.slugs, ["gpt-5.5", "gpt-5", "o-9"]);
  assert.deepEqual([found.etag, found.missing], ['"v7"', null]);
  const urls = () => Object.values(upstreams).map(({ seen }) => seen.map(({ url }) => url).join(" "));
  const asked = "/v1/models?client_version=0.169.0";
  assert.deepEqual(urls(), [asked, "/v1/models?limit=1000", asked, asked]);
  // Kept for a minute, apart from the list of other clients.
  await askAsCodex(gate.url);
  assert.deepEqual(urls(), [asked, "/v1/models?limit=1000", asked, asked]);
  assert.deepEqual((await list()).ids, ["qwen3", "claude-a", "gpt-5.5", "gpt-5", "o-9"]);
});

test("a group leaves models out of Codex's list, too", async (t) => {
  const { gate } = await start(t, { openai: { script: codexLists('"v7"', "gpt-5.5", "gpt-5-mini") } });
  const groups = { small: { name: "small", models: ["*-mini"], key: null, budgets: [], brake: null } };
  useConfig(gate, { groups, otherTools: { ...gate.gate.settings.config.otherTools, group: "small" } });
  assert.deepEqual((await askAsCodex(gate.url)).slugs, ["gpt-5-mini"]);
});

test("where no upstream has Codex's list, Codex gets the usual one, as it would without tollkeeper", async (t) => {
  const { gate } = await start(t, {
    local: { script: lists("qwen3"), settings: { models: ["qwen*"] } },
    other: { script: lists("gpt-5") },
  });
  const { body } = await askAsCodex(gate.url);
  assert.deepEqual(
    body.data?.map(({ id }) => id),
    ["qwen3", "gpt-5"],
  );
});

test("an upstream whose list Codex does not get in time, or at all, is named, and the others are listed", async (t) => {
  const { gate } = await start(t, {
    broken: { script: (_seen, res) => sendJson(res, { error: "no" }, 500), settings: { models: ["x*"] } },
    openai: { script: codexLists('"v7"', "gpt-5.5") },
  });
  const { slugs, missing } = await askAsCodex(gate.url);
  assert.deepEqual([slugs, missing], [["gpt-5.5"], "broken"]);
});

test("versions that clients make up are not kept without end, and what is none goes nowhere", async (t) => {
  const { gate, upstreams } = await start(t, {
    local: { script: lists("qwen3"), settings: { models: ["qwen*"] } },
    openai: { script: codexLists('"v7"', "gpt-5.5") },
  });
  for (let at = 0; at < 70; at += 1) await askAsCodex(gate.url, `0.${at}.0`);
  const count = () => upstreams["openai"]?.seen.length;
  assert.equal(count(), 70);
  await askAsCodex(gate.url, "0.69.0");
  assert.equal(count(), 70);
  await askAsCodex(gate.url, "0.0.0");
  assert.equal(count(), 71);
  const odd = await askAsCodex(gate.url, encodeURIComponent("1&x=2"));
  assert.equal(odd.slugs, undefined);
  assert.equal(upstreams["openai"]?.seen.at(-1)?.url, "/v1/models");
});

test("in token mode the list is for clients with a token only", async (t) => {
  const { gate } = await start(t, { a: { script: lists("m") }, b: { script: lists("n") } });
  useConfig(gate, { access: { mode: "token", peerUid: [] } });
  const response = await fetch(`${gate.url}/v1/models`);
  assert.equal(response.headers.get("x-tollkeeper-refusal"), "token_required");
});
