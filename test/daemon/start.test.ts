import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { keyInFile } from "../helpers/keychain/key-file.ts";
import { answerJson, MESSAGE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";

test("without any configuration the sandbox answers every route, on both loopback addresses", async (t) => {
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

test("the sandbox's welcome calls it one, and says what to type next", async (t) => {
  const { stdout, url } = await startDaemon(t);
  assert.match(stdout(), /No upstream is configured, so the built-in SANDBOX answers/);
  for (const route of ["models", "messages", "responses", "messages/count_tokens"]) {
    assert.match(stdout(), new RegExp(`curl .*${url}/v1/${route}(?: |\\n)`));
  }
  for (const next of [/ usage\n/, / config edit /, / key set\n/]) assert.match(stdout(), next);
});

test("a configured upstream is welcomed by its address, and gets the key of its file", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const { config } = keyInFile(t, upstream.baseUrl, "key-of-the-file");
  const daemon = await startDaemon(t, { config });
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

test("a key that cannot be had is said to the client and to the log, and stops nothing", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const key = keyInFile(t, upstream.baseUrl, "");
  const daemon = await startDaemon(t, { config: key.config });
  const refused = await post(daemon, "/v1/messages", {});
  assert.deepEqual([refused.status, refused.headers.get("x-tollkeeper-refusal")], [503, "key_unavailable"]);
  assert.match(await refused.text(), /gives no key: the key is empty; put the key there/);
  await daemon.until(/gives no key/);
  key.write("now-there");
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
});

test("with --debug refused requests are logged by their code, without it not at all", async (t) => {
  const [quiet, loud] = await Promise.all([startDaemon(t), startDaemon(t, { args: ["--debug"] })]);
  for (const { url } of [quiet, loud]) assert.equal((await fetch(`${url}/v1/nothing`)).status, 404);
  await loud.until(/"code":"not_found"/);
  await Promise.all([quiet.stop(), loud.stop()]);
  assert.doesNotMatch(quiet.stderr(), /not_found/);
});
