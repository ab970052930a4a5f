// B4, redirects: a redirect is passed on as it is and never followed, so that the key goes to no other server, and the key does not stand in what is passed on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchModels } from "../../src/cli/keys/fetch-models.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import { Failure } from "../../src/core/failure.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import { startUnexpectedServer } from "../helpers/upstream/unexpected-server.ts";
import { TEST_KEY, upstreamAt } from "../helpers/gate/gate.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";

const STATUSES = [300, 301, 302, 303, 305, 307, 308];

for (const status of STATUSES) {
  test(`a ${status} reaches the client as it is, whatever the method, and the place that it names is not visited`, async (t) => {
    const elsewhere = await startUnexpectedServer(t);
    const location = `${elsewhere.origin}/v1/models?next=1`;
    const { upstream, gate } = await startGateWithUpstream(t, (_seen, res) =>
      res.writeHead(status, { location }).end("moved"),
    );
    for (const [line, body] of [
      ["GET /v1/models HTTP/1.1", ""],
      ["POST /v1/messages HTTP/1.1", `{"model":"m"}`],
    ] as const) {
      const head = [line, `Host: 127.0.0.1:${gate.port}`, "Content-Type: application/json"];
      const answer = await exchangeRaw(t, gate.port, head, body);
      assert.deepEqual(
        [answer.status, answer.headers.find(([name]) => name === "location"), answer.refusal],
        [status, ["location", location], null],
      );
      assert.match(answer.text, /moved/);
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

test("a redirect to another path of the same upstream is not followed either", async (t) => {
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

test("a redirect that has the key in its Location or its body is passed on without it", async (t) => {
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
  const blotted = "*".repeat(TEST_KEY.length);
  assert.ok(text.includes(`https://other.example/?key=${blotted}&again=${blotted}\r\n`), text);
  assert.ok(!text.includes(TEST_KEY), text);
});

test("`key test` follows none, and says so", async (t) => {
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
  assert.match(failure.message, /^not decided: .* answers 307/);
  assert.match(failure.hint ?? "", /never followed/);
  assert.equal(elsewhere.connections(), 0);
});
