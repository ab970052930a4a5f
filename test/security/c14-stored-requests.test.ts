// C14, a limited tool that stores requests: what a service keeps may be executed later, with any model and at any cost. So no route for files,
// uploads or batches is open to it, as free as the configuration says that they are, unless one is allowed to limited tools by name. A batch of
// Anthropic's says what it asks for: it is judged by each of its requests.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { problemsOf, withUpstream } from "../helpers/config/config-problems.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { withLimits, type GateOptions } from "../helpers/gate/gate.ts";
import { RecordingBudgets } from "../helpers/gate/recording-budgets.ts";
import { sendJson } from "../helpers/upstream/scripted-upstream.ts";

const GROUP = rulesForTools({
  tools: { "*": { group: "small" }, zed: { group: "free" } },
  groups: { small: { models: ["good*"] }, free: {} },
});
const capped = (action: "refuse" | "warn") => rulesForTools({ budgets: [{ usd: 5, per: "day", action }] });

type Method = "GET" | "POST" | "DELETE";

const route = (method: Method, path: string, forLimitedTools?: true) => ({
  method,
  path,
  auth: "bearer" as const,
  dialect: "none" as const,
  spend: "never" as const,
  accepts: ["json" as const, "multipart" as const],
  ...(forLimitedTools !== undefined && { forLimitedTools }),
});

const ROUTES = [
  route("POST", "/files"),
  route("GET", "/files"),
  route("DELETE", "/files/{id}"),
  route("POST", "/uploads/{id}/parts"),
  route("POST", "/batches"),
  route("GET", "/messages/batches"),
  route("POST", "/Batch/jobs"),
  route("GET", "/vector_stores/{id}/files"),
  route("POST", "/profiles"),
];

async function start(t: TestContext, config: object, routes = ROUTES) {
  const { gate, upstream } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, {}), {
    config,
    upstream: { routes },
  });
  const ask = async (method: Method, path: string, tool = "codex") => {
    const isPost = method === "POST";
    const response = await fetch(`${gate.url}/t/${tool}/v1${path}`, {
      method,
      ...(isPost && { body: "{}", headers: { "content-type": "application/json" } }),
    });
    const text = await response.text();
    return { code: response.headers.get("x-tollkeeper-refusal") ?? response.status, text };
  };
  return { ask, upstream };
}

for (const [limit, config] of [
  ["a group with models", GROUP],
  ["a budget that refuses", capped("refuse")],
] as const) {
  test(`${limit} closes every route for files, uploads and batches, although it is configured as free`, async (t) => {
    const { ask, upstream } = await start(t, config);
    for (const { method, path } of ROUTES.slice(0, -1)) {
      const { code } = await ask(method, path.replace("{id}", "x-1"));
      assert.equal(code, "storage_not_allowed", `${method} ${path}`);
    }
    assert.equal(upstream.seen.length, 0);
    assert.equal((await ask("POST", "/profiles")).code, 200);
  });
}

test("a form with a file is refused, too", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, {}), {
    config: GROUP,
    upstream: { routes: ROUTES },
  });
  const body = new FormData();
  body.set("purpose", "batch");
  body.set("file", new Blob(['{"body":{"model":"evil"}}\n']), "batch.jsonl");
  const response = await fetch(`${gate.url}/v1/files`, { method: "POST", body });
  assert.equal(response.headers.get("x-tollkeeper-refusal"), "storage_not_allowed");
  await response.text();
  assert.equal(upstream.seen.length, 0);
});

test("a tool that nothing limits stores what it likes", async (t) => {
  for (const [config, tool] of [
    [GROUP, "zed"],
    [{}, "codex"],
    [capped("warn"), "codex"],
  ] as const) {
    const { ask } = await start(t, config);
    assert.equal((await ask("POST", "/files", tool)).code, 200);
    assert.equal((await ask("GET", "/messages/batches", tool)).code, 200);
  }
});

test("a route that is allowed to limited tools by name is open to them, and no other", async (t) => {
  const { ask, upstream } = await start(t, GROUP, [route("POST", "/files", true), route("GET", "/files")]);
  assert.equal((await ask("POST", "/files")).code, 200);
  assert.equal((await ask("GET", "/files")).code, "storage_not_allowed");
  assert.equal(upstream.seen.length, 1);
});

test("the refusal names the limit and the entry that would allow the route", async (t) => {
  const { ask } = await start(t, GROUP);
  const { text } = await ask("POST", "/files");
  assert.match(text, /groups\.small\.models limits codex/);
  const { error } = JSON.parse(text) as { error: { message: string } };
  const entry: unknown = JSON.parse(/add (\{.*\}) to "routes"/.exec(error.message)?.[1] ?? "null");
  assert.deepEqual(problemsOf(withUpstream({ routes: [entry] })), []);
  const own = entry as Omit<(typeof ROUTES)[number], "spend" | "accepts">;
  const allowed = await start(t, GROUP, [{ ...own, spend: "never", accepts: ["json"] }]);
  assert.equal((await allowed.ask("POST", "/files")).code, 200);
});

const BATCHES = "/t/codex/v1/messages/batches";

/** A gate in front of a service that keeps batches. Those of `zed` are `msgbatch_zed`. */
async function startWithBatches(
  t: TestContext,
  config: GateOptions["config"] = GROUP,
  routes: object[] = [],
  budgets = new RecordingBudgets(),
) {
  const owners: Record<string, string> = { msgbatch_codex: "codex", msgbatch_zed: "zed" };
  const { gate, upstream } = await startGateWithUpstream(
    t,
    (_seen, res) => sendJson(res, { id: "msgbatch_codex", processing_status: "in_progress" }),
    {
      config,
      budgets,
      upstream: { routes } as NonNullable<GateOptions["upstream"]>,
      creators: {
        find: (id) => {
          const tool = owners[id];
          return tool === undefined ? null : { tool, upstream: "default", key: "default", batch: null };
        },
        look: () => Promise.resolve(),
      },
    },
  );
  const send = async (body: string | Buffer, headers: Record<string, string> = {}, query = "") => {
    const response = await fetch(`${gate.url}${BATCHES}${query}`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers },
    });
    const text = await response.text();
    return { code: response.headers.get("x-tollkeeper-refusal") ?? response.status, text };
  };
  return { gate, upstream, send };
}

const batchOf = (...params: string[]) =>
  `{"requests":[${params.map((one, index) => `{"custom_id":"r-${index}","params":${one}}`).join()}]}`;

test("a batch leaves if the group allows the model of each of its requests, byte for byte", async (t) => {
  const { gate, send, upstream } = await startWithBatches(t);
  const body = ` ${batchOf('{"model":"good","max_tokens":5}', '{"max_tokens":5,"model":"good-2"}')}\n`;
  assert.equal((await send(body)).code, 200);
  assert.equal((await send(batchOf('{"model":"good"}'))).code, 200);
  assert.equal(upstream.seen[0]?.body.toString(), body);
  const [both, one] = gate.ledger.records;
  assert.deepEqual([both?.model_requested, one?.model_requested], [null, "good"]);
});

test("a batch with one forbidden model is refused whole, and the refusal names its request", async (t) => {
  const { gate, send, upstream } = await startWithBatches(t);
  const { code, text } = await send(batchOf('{"model":"good"}', '{"model":"good"}', '{"model":"evil"}'));
  assert.equal(code, "model_not_allowed");
  assert.match(text, /groups\.small\.models allows good\*; codex asked for evil in requests\[2\]/);
  assert.equal(upstream.sockets.size + gate.keys.reads, 0);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.model_requested], ["rejected", "evil"]);
});

/** Batches in which some service finds `evil`, and a careless reader only `good`. `…` stands for more than arrives at once. */
const TRICKS: readonly string[] = [
  batchOf('{"model":"good","model":"evil"}'),
  batchOf('{"model":"good"}', '{"system":"…","model":"good","mod\\u0065l":"evil"}'),
  batchOf('{"model":"good"}', '{"model":"good","system":"…","MODEL":"evil"}'),
  batchOf('{"model":"good","fallbacks":["evil"]}'),
  batchOf('{"model":"good","models":["evil"]}'),
  batchOf('{"model":"good","extra_body":{"model":"evil"}}'),
  batchOf('{"model":"good","tools":[{"type":"advisor_20260301","name":"advisor","model":"evil"}]}'),
  batchOf('{"model":["good","evil"]}'),
  batchOf('{"model":{"good":1,"model":"evil"}}'),
  batchOf('{"model":"good","a":NaN}'),
  batchOf('{"model":"good"/*,"model":"evil"*/}'),
  batchOf("{}"),
  `{"model":"evil",${batchOf('{"model":"good"}').slice(1)}`,
  `${batchOf('{"model":"good","system":"…"}').slice(0, -1)},"requests":[{"custom_id":"b","params":{"model":"evil"}}]}`,
  `${batchOf('{"model":"good"}').slice(0, -1)},"request\\u0073":[{"params":{"model":"evil"}}]}`,
  `${batchOf('{"model":"good"}').slice(0, -1)},"REQUESTS":[{"params":{"model":"evil"}}]}`,
  '{"requests":[{"params":{"model":"good"},"params":{"model":"evil"}}]}',
  '{"requests":[{"params":{"model":"good"},"par\\u0061ms":{"model":"evil"}}]}',
  '{"requests":[{"params":{"model":"good"},"body":{"model":"evil"}}]}',
  '{"requests":[{"params":{"model":"good"},"model":"evil"}]}',
  '{"requests":[{"params":[{"model":"evil"}]}]}',
  '{"requests":[[{"params":{"model":"evil"}}],{"params":{"model":"good"}}]}',
  '{"requests":{"params":{"model":"evil"}}}',
  `${batchOf('{"model":"good"}')}${batchOf('{"model":"evil"}')}`,
  batchOf('{"model":"good"}').slice(0, -1),
  `[${batchOf('{"model":"good"}')},${batchOf('{"model":"evil"}')}]`,
  `\ufeff${batchOf('{"model":"good"}')}`,
  '{"custom_id":"a","params":{"model":"good"}}\n{"custom_id":"b","params":{"model":"evil"}}',
  "{}",
];

test("a batch in which a service could find another model is refused, and nothing of it leaves", async (t) => {
  const { gate, send, upstream } = await startWithBatches(t);
  for (const trick of TRICKS)
    assert.equal(
      (await send(trick.replace("…", "x".repeat(300_000)))).code,
      "model_unreadable",
      trick.slice(0, 120),
    );
  const good = batchOf('{"model":"good"}');
  for (const [body, headers, query] of [
    [gzipSync(good), { "content-encoding": "gzip" }, ""],
    [good, { "content-type": "application/json; charset=utf-16" }, ""],
    [good, {}, "?model=evil"],
  ] as const)
    assert.equal((await send(body, headers, query)).code, "model_unreadable");
  assert.equal(upstream.sockets.size + gate.keys.reads, 0);
});

test("a batch that is too long to be judged is refused", async (t) => {
  const { gate, upstream } = await startWithBatches(t, {
    ...GROUP,
    ...withLimits({ bodyBytes: 1000 }).config,
  });
  const body = batchOf(`{"model":"good","system":"${"x".repeat(1000)}"}`);
  const chunked = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from(body));
      controller.close();
    },
  });
  for (const sent of [body, chunked]) {
    const response = await fetch(`${gate.url}${BATCHES}`, {
      method: "POST",
      body: sent,
      headers: { "content-type": "application/json" },
      duplex: "half",
    });
    await response.text();
    assert.equal(response.headers.get("x-tollkeeper-refusal"), "body_too_large");
  }
  assert.equal(upstream.seen.length, 0);
});

test("a batch is held back for by what all of its requests may spend, and one that no budget has room for does not leave", async (t) => {
  const budgets = new RecordingBudgets();
  for (const config of [capped("refuse"), { ...GROUP, ...capped("refuse") }]) {
    const { send, upstream } = await startWithBatches(t, config, [], budgets);
    const body = batchOf('{"model":"good","max_tokens":7}', '{"model":"good","max_tokens":5}');
    budgets.refuses = () => false;
    assert.equal((await send(body)).code, 200);
    const asked = budgets.asked.at(-1);
    assert.deepEqual(
      [asked?.model, asked?.output, asked?.tier, asked?.parts?.map(({ output }) => output)],
      ["good", 12, "batch", [12]],
    );
    budgets.refuses = ({ parts }) => parts !== null;
    assert.equal((await send(body)).code, "budget_spent");
    assert.equal((await send('{"requests":[{"body":{"model":"good"}}]}')).code, "model_unreadable");
    assert.equal(upstream.seen.length, 1);
  }
});

test("a limited tool fetches and cancels the batches that it has created, and none of another tool", async (t) => {
  const { gate, upstream } = await startWithBatches(t);
  const ask = async (method: string, path: string) => {
    const response = await fetch(`${gate.url}${BATCHES}${path}`, { method });
    await response.text();
    return response.headers.get("x-tollkeeper-refusal") ?? response.status;
  };
  for (const [method, path] of [
    ["GET", ""],
    ["GET", "/results"],
    ["POST", "/cancel"],
  ] as const) {
    assert.equal(await ask(method, `/msgbatch_codex${path}`), 200, method + path);
    assert.equal(await ask(method, `/msgbatch_zed${path}`), "storage_not_allowed", method + path);
    assert.equal(await ask(method, `/msgbatch_unknown${path}`), "storage_not_allowed", method + path);
  }
  assert.equal(await ask("DELETE", "/msgbatch_codex"), "storage_not_allowed");
  assert.equal(await ask("GET", ""), "storage_not_allowed");
  assert.equal(upstream.seen.length, 3);
});

test("where the configuration opens the route to limited tools, a batch is not judged", async (t) => {
  const open = route("POST", "/messages/batches", true);
  const { send } = await startWithBatches(t, GROUP, [{ ...open, auth: "x-api-key" }]);
  assert.equal((await send(batchOf('{"model":"evil"}'))).code, 200);
});
