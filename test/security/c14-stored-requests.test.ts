// C14, a limited tool that stores requests: what a service keeps may be executed later, with any model and at any cost. So no route for files,
// uploads or batches is open to it, as free as the configuration says that they are, unless one is allowed to limited tools by name.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { problemsOf, withUpstream } from "../helpers/config/config-problems.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
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
