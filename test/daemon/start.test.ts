import assert from "node:assert/strict";
import { test } from "node:test";
import { explainUnmaintainedNode } from "../../src/core/node-releases.ts";
import { startDaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { MESSAGE, respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";

test("without an upstream in the configuration the sandbox serves every route, on both loopback addresses", async (t) => {
  const daemon = await startDaemon(t);
  for (const url of [daemon.url, `http://[::1]:${daemon.port}`, `http://localhost:${daemon.port}`]) {
    assert.equal((await fetch(`${url}/v1/models`)).status, 200);
  }
  const ask = { model: "claude-sonnet-5", messages: [{ role: "user", content: "hello" }] };
  for (const [path, body] of [
    ["/v1/messages", { ...ask, max_tokens: 8 }],
    ["/v1/messages/count_tokens", ask],
    ["/v1/responses", { model: "gpt-5", input: "hello" }],
  ] as const) {
    assert.equal((await post(daemon, path, body)).status, 200, path);
  }
  const records = await daemon.ledger();
  assert.deepEqual(
    records.map(({ route, upstream, key }) => [route, upstream, key]),
    ["/models", "/models", "/models", "/messages", "/messages/count_tokens", "/responses"].map((route) => [
      route,
      "sandbox",
      "sandbox",
    ]),
  );
});

test("a daemon that starts with the sandbox says that it is one, and which commands to type next", async (t) => {
  const { waitForOutput, url } = await startDaemon(t);
  const printed = await waitForOutput(/ setup\n/);
  assert.match(printed, /No upstream is configured, so the built-in SANDBOX responds/);
  const routes = ["models", "responses", "messages", "messages/count_tokens"];
  for (const route of [...routes, "chat/completions", "completions", "embeddings"]) {
    assert.match(printed, new RegExp(`curl .*${url}/v1/${route}(?: |\\n)`));
  }
  assert.match(printed, / usage\n/);
});

test("a daemon with a configured upstream prints its address at the start, and sends it the key from the key file", async (t) => {
  const options = { key: "key-of-the-file" };
  const { upstream, daemon } = await startDaemonWithUpstream(t, respondWithMessage, options);
  assert.equal(daemon.stdout(), `tollkeeper listens on ${daemon.url} and forwards to ${upstream.baseUrl}\n`);
  const res = await post(daemon, "/t/codex/v1/messages", { model: "m" });
  assert.deepEqual(await res.json(), MESSAGE);
  assert.equal(upstream.seen[0]?.headers["x-api-key"], "key-of-the-file");
  const [record] = await daemon.ledger();
  assert.deepEqual(
    [record?.tool, record?.outcome, record?.tokens?.output, record?.key],
    ["codex", "completed", 2, "default"],
  );
});

test("a request whose key cannot be read is refused and logged, and the next one succeeds once the key is there", async (t) => {
  const { daemon, keyFile } = await startDaemonWithUpstream(t, respondWithMessage, { key: "" });
  const refused = await post(daemon, "/v1/messages", {});
  assert.deepEqual([refused.status, refused.headers.get("x-tollkeeper-refusal")], [402, "key_unavailable"]);
  assert.match(await refused.text(), /provides no valid key: the key is empty\. It must provide only/);
  await daemon.waitForOutput(/provides no valid key/);
  keyFile.write("now-there");
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
});

test("each refused request is logged with its code under --debug, and not without it", async (t) => {
  const [quiet, loud] = await Promise.all([startDaemon(t), startDaemon(t, { args: ["--debug"] })]);
  for (const { url } of [quiet, loud]) assert.equal((await fetch(`${url}/v1/nothing`)).status, 404);
  await loud.waitForOutput(/"code":"not_found"/);
  await Promise.all([quiet.stop(), loud.stop()]);
  assert.doesNotMatch(quiet.stderr(), /"code":"not_found"/);
});

test("a daemon on a Node without security fixes says so once in its log, and on any other not at all", async (t) => {
  const daemon = await startDaemon(t);
  await daemon.stop();
  const expected = explainUnmaintainedNode(process.versions.node, Date.now()) === null ? 0 : 1;
  assert.equal(daemon.stderr().split("has had no security fixes").length - 1, expected);
});

test("a key file that is missing is said at the start, with what to do", async (t) => {
  const keySource = { file: "/nowhere/key" };
  const config = { upstreams: { default: { baseUrl: "http://127.0.0.1:9/v1", keySource } } };
  const daemon = await startDaemon(t, { config });
  await daemon.waitForOutput(/"hint":"[^"]+".*\/nowhere\/key/);
});
