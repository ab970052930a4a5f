// B4, redirects: a redirect is passed on unchanged and never followed, so that the key is sent to no other server. The key is redacted
// in what is passed on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchModels } from "../../src/proxy/upstream/fetch-models.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import { Failure } from "../../src/core/failure.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import { startUnexpectedServer } from "../helpers/upstream/unexpected-server.ts";
import { TEST_KEY, upstreamAt } from "../helpers/gate/gate.ts";
import { exchangeRaw, jsonHeaders } from "../helpers/client/raw-exchange.ts";
import { startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";

const STATUSES = [300, 301, 302, 303, 305, 307, 308];

for (const status of STATUSES) {
  test(`a ${status} is passed on unchanged for any method, and its location is not requested`, async (t) => {
    const elsewhere = await startUnexpectedServer(t);
    const location = `${elsewhere.origin}/v1/models?next=1`;
    const { upstream, gate } = await startGateWithUpstream(t, (_seen, res) =>
      res.writeHead(status, { location }).end("moved"),
    );
    for (const [line, body] of [
      ["GET /v1/models HTTP/1.1", ""],
      ["POST /v1/messages HTTP/1.1", `{"model":"m"}`],
    ] as const) {
      const head = [line, ...jsonHeaders(gate.port)];
      const response = await exchangeRaw(t, gate.port, head, body);
      assert.deepEqual(
        [response.status, response.headers.find(([name]) => name === "location"), response.refusal],
        [status, ["location", location], null],
      );
      assert.match(response.text, /moved/);
    }
    assert.deepEqual([upstream.seen.length, elsewhere.connections()], [2, 0]);
    assert.deepEqual(
      gate.ledger.records.map((record) => [record.status, record.outcome, record.usage]),
      [
        [status, "error", "none"],
        [status, "error", "absent"],
      ],
    );
  });
}

test("a redirect to another path of the same upstream is not followed", async (t) => {
  const { upstream, gate } = await startGateWithUpstream(t, (_seen, res) =>
    res.writeHead(307, { location: "/v1/admin" }).end(),
  );
  const lines = ["GET /v1/models HTTP/1.1", `Host: 127.0.0.1:${gate.port}`];
  assert.equal((await exchangeRaw(t, gate.port, lines)).status, 307);
  assert.deepEqual(
    upstream.seen.map(({ url }) => url),
    ["/v1/models"],
  );
});

test("a redirect with the key in its Location or its body is passed on without it", async (t) => {
  const { gate } = await startGateWithUpstream(t, (_seen, res) =>
    res
      .writeHead(302, `see ${TEST_KEY}`, {
        location: `https://other.example/?key=${TEST_KEY}&again=${TEST_KEY}`,
        "content-location": TEST_KEY,
      })
      .end(`<a href="https://other.example/?key=${TEST_KEY}">moved</a>`),
  );
  const { text } = await exchangeRaw(t, gate.port, [
    "GET /v1/models HTTP/1.1",
    `Host: 127.0.0.1:${gate.port}`,
  ]);
  const redacted = "*".repeat(TEST_KEY.length);
  assert.ok(text.includes(`https://other.example/?key=${redacted}&again=${redacted}\r\n`), text);
  assert.ok(!text.includes(TEST_KEY), text);
});

test("a redirect with the escaped key in its Location is passed on without it", async (t) => {
  const spellings = [
    TEST_KEY.replaceAll("-", "%2D"),
    TEST_KEY.replaceAll("-", "%252d"),
    encodeURIComponent(Buffer.from(`:${TEST_KEY}`).toString("base64")),
  ];
  const { gate } = await startGateWithUpstream(t, (_seen, res) =>
    res.writeHead(302, { location: `https://other.example/?${spellings.join("&")}` }).end(),
  );
  const { text } = await exchangeRaw(t, gate.port, [
    "GET /v1/models HTTP/1.1",
    `Host: 127.0.0.1:${gate.port}`,
  ]);
  assert.match(text, /\r\nlocation: https:\/\/other\.example\/\?\*+&\*+&.{0,2}\*+.{0,6}\r\n/i);
});

test("`key test` follows no redirect and says so", async (t) => {
  const elsewhere = await startUnexpectedServer(t);
  const upstream = await startUpstream(t, (_seen, res) =>
    res.writeHead(307, { location: `${elsewhere.origin}/v1/models` }).end(),
  );
  const failure: unknown = await fetchModels(
    upstreamAt(upstream.baseUrl),
    new Secret(TEST_KEY),
    defaultConfig.outbound,
  ).catch((reason: unknown) => reason);
  assert.ok(failure instanceof Failure);
  assert.match(
    failure.message,
    /^the key could not be verified: .* redirects to \S+ \(307\), and tollkeeper never follows a redirect$/,
  );
  assert.equal(elsewhere.connections(), 0);
});
