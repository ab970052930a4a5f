// F7, whoever reads metrics: our own user, and users whom `export.metrics.peerUid` lists, who reach metrics and health checks alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { post } from "../helpers/gate/gate.ts";
import { METRICS, startMetrics } from "../helpers/gate/metrics.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { curlAs, NOBODY, noOtherUser } from "../helpers/process/other-user.ts";

const READER = 12_345;

/** Everything that the port serves but metrics and health checks, and some of what it does not. */
const ELSEWHERE: readonly (readonly [method: string, path: string])[] = [
  ["GET", "/"],
  ["HEAD", "/"],
  ["HEAD", "/api/hello"],
  ["GET", "/v1/models"],
  ["GET", "/models"],
  ["GET", "/t/codex/v1/models"],
  ["GET", "/_tollkeeper/v1/status"],
  ["GET", "/_tollkeeper/v1/usage"],
  ["GET", "/_tollkeeper/v1/live"],
  ["GET", "/_tollkeeper/v1/session"],
  ["GET", "/_tollkeeper/dashboard/app.js"],
  ["GET", "/no-such-path"],
  ["HEAD", METRICS],
  ["GET", `${METRICS}/../v1/models`],
];

test("a user who is listed for metrics gets these and health checks, and learns of no other path", async (t) => {
  const { gate, upstream, ask } = await startMetrics(t, { uid: READER, readers: [READER] });
  assert.equal((await ask()).status, 200);
  assert.equal((await ask("/_tollkeeper/healthz")).status, 200);
  const refused = await ask("/v1/models");
  assert.match(refused.text, /"code":"peer_not_allowed"/);
  for (const [method, path] of ELSEWHERE) {
    const { status, text } = await ask(path, { method, headers: { accept: "text/html" } });
    assert.equal(status, 400, `${method} ${path}`);
    if (method === "GET") assert.equal(text, refused.text, path);
  }
  for (const path of ["/v1/responses", "/v1/messages", "/v1/chat/completions", METRICS]) {
    const { status } = await post(gate, path, { model: "gpt-5", input: "x" });
    assert.ok(status === 400 || status === 402, `POST ${path}: ${status}`);
  }
  assert.equal(upstream.seen.length + gate.keys.reads + gate.ledger.records.length, 0);
});

test("a user who is also listed in access.peerUid has both, and one listed there alone has no metrics", async (t) => {
  const both = await startMetrics(t, { uid: READER, readers: [READER], peerUid: [READER] });
  assert.deepEqual([(await both.ask()).status, (await both.ask("/v1/models")).status], [200, 200]);
  const proxy = await startMetrics(t, { uid: READER, peerUid: [READER] });
  assert.deepEqual([(await proxy.ask()).status, (await proxy.ask("/v1/models")).status], [403, 200]);
});

test("a user who is not listed gets nothing, and neither does one whom the system does not name", async (t) => {
  const stranger = await startMetrics(t, { uid: READER, readers: [READER + 1] });
  assert.equal((await stranger.ask()).status, 400);
  const unknown = await startMetrics(t, { uid: null, readers: [READER] });
  const { status, text } = await unknown.ask();
  assert.equal(status, 403);
  assert.match(text, /hint: .*tollkeeper metrics\n$/);
});

test("where local tokens are required, to be our own user is not enough, and to be listed is", async (t) => {
  const own = await startMetrics(t, { needsToken: true });
  assert.equal((await own.ask()).status, 403);
  const listed = await startMetrics(t, { needsToken: true, readers: [process.getuid?.() ?? 0] });
  assert.equal((await listed.ask()).status, 200);
});

test("a page of another origin and a name that is not ours get no metrics", async (t) => {
  const { gate, ask } = await startMetrics(t);
  assert.equal((await ask(METRICS, { headers: { origin: "https://evil.example" } })).status, 403);
  assert.equal((await ask(METRICS, { headers: { "sec-fetch-site": "cross-site" } })).status, 403);
  assert.equal(gate.ledger.records.length, 0);
});

test(
  "a real other user reads the metrics of a daemon that lists him, and nothing else",
  { skip: noOtherUser },
  async (t) => {
    const config = { export: { metrics: { peerUid: [NOBODY] } } };
    const daemon = await startDaemon(t, { config });
    const { status, body } = await curlAs(NOBODY, daemon.url + METRICS);
    assert.equal(status, 200);
    assert.match(body, /^tollkeeper_up 1$/m);
    for (const path of ["/v1/models", "/_tollkeeper/v1/status", "/"])
      assert.equal((await curlAs(NOBODY, daemon.url + path)).status, 400, path);
    assert.deepEqual(await daemon.ledger(), []);
  },
);
