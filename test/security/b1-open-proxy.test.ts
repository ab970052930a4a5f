// B1, open proxy: the upstream's address comes only from the configuration. Whatever authority a target names, the request goes to the
// configured upstream or nowhere, and only a checked query is added to the route's own path.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startUnexpectedServer } from "../helpers/upstream/unexpected-server.ts";
import { startGate, TEST_KEY } from "../helpers/gate/gate.ts";
import { exchangeRaw, jsonHeaders } from "../helpers/client/raw-exchange.ts";
import { startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";

/** Targets that lead to another host when joined to a base URL or parsed as a URL. ELSE stands for its authority. */
const AUTHORITIES = [
  "http://ELSE/v1/models",
  "https://ELSE/v1/models",
  "HTTP://ELSE/v1/models",
  "http:ELSE/v1/models",
  "http:/ELSE/v1/models",
  "http:///ELSE/v1/models",
  "http://user:password@ELSE/v1/models",
  "ws://ELSE/v1/models",
  "ftp://ELSE/v1/models",
  "//ELSE/v1/models",
  "///ELSE/v1/models",
  "////ELSE/v1/models",
  "/\\ELSE/v1/models",
  "\\\\ELSE/v1/models",
  "\\/ELSE/v1/models",
  "/\t/ELSE/v1/models",
  "/%09/ELSE/v1/models",
  "/%5cELSE/v1/models",
  "/%2fELSE/v1/models",
  "/%2f%2fELSE/v1/models",
  "//%45LSE@ELSE/v1/models",
  "@ELSE/v1/models",
  "/@ELSE/v1/models",
  ":@ELSE/v1/models",
  ":1@ELSE/v1/models",
  ".ELSE/v1/models",
  "ELSE/v1/models",
  "ELSE",
  "?@ELSE/v1/models",
  "#@ELSE/v1/models",
  "/http://ELSE/v1/models",
  "/v1/http://ELSE/models",
  "/v1//ELSE/models",
  "/v1/models@ELSE",
  "/v1/models:@ELSE",
  "/v1@ELSE/models",
  "/t//ELSE/v1/models",
  "/t/codex//ELSE/v1/models",
  "/t/codex@ELSE/v1/models",
  "/t/http://ELSE/v1/models",
  "/t/codex/http://ELSE/v1/models",
  "javascript:ELSE/v1/models",
  "file:///etc/passwd",
  "*",
];

/** Queries are passed on unchanged, because they cannot lead to another host. */
const QUERIES = [
  "?beta=true",
  "?",
  "??",
  "?@ELSE",
  "?//ELSE/v1/models",
  "?url=http://ELSE/",
  "?/../../admin",
  "?%2e%2e%2f%00%ff",
  "?a=1&a=2&&=;",
  "?\\\\ELSE",
  `?"<>^\`{|}'`,
];

for (const method of ["GET", "POST"]) {
  test(`a ${method} whose target names another authority is sent neither there nor to the upstream`, async (t) => {
    const elsewhere = await startUnexpectedServer(t);
    const { upstream, gate } = await startGateWithUpstream(t, respondWithEmptyJson);
    for (const pattern of AUTHORITIES) {
      const target = pattern.replaceAll("ELSE", elsewhere.authority);
      const lines = [`${method} ${target} HTTP/1.1`, ...jsonHeaders(gate.port)];
      const { status, text } = await exchangeRaw(t, gate.port, lines, method === "POST" ? "{}" : "");
      // Node's parser itself refuses what is not a request target.
      assert.ok(status === 404 || status === 400, `${target}: ${status}`);
      assert.ok(!text.includes(TEST_KEY), target);
    }
    assert.deepEqual([upstream.seen, elsewhere.connections(), gate.keys.reads], [[], 0, 0]);
    // The same request without the authority is served, so the authority was the reason.
    const good = await exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.1", ...jsonHeaders(gate.port)]);
    assert.equal(good.status, 200);
  });
}

test("a target that names our own or the upstream's authority is refused", async (t) => {
  const { upstream, gate } = await startGateWithUpstream(t, respondWithEmptyJson);
  for (const authority of [`127.0.0.1:${gate.port}`, new URL(upstream.origin).host]) {
    const lines = [`GET http://${authority}/v1/models HTTP/1.1`, ...jsonHeaders(gate.port)];
    assert.equal((await exchangeRaw(t, gate.port, lines)).refusal, "not_found");
  }
  assert.deepEqual(upstream.seen, []);
});

test("the upstream receives its configured path, the query unchanged, and its own Host", async (t) => {
  const elsewhere = await startUnexpectedServer(t);
  const upstream = await startUpstream(t, respondWithEmptyJson);
  const gate = await startGate(t, `${upstream.origin}/tenant/api/v1`);
  const queries = QUERIES.map((query) => query.replaceAll("ELSE", elsewhere.authority));
  for (const query of queries) {
    const lines = [
      `GET /t/codex/v1/models${query} HTTP/1.1`,
      ...jsonHeaders(gate.port),
      `X-Forwarded-Host: ${elsewhere.authority}`,
      `Forwarded: host=${elsewhere.authority}`,
      `X-Original-URL: //${elsewhere.authority}/`,
    ];
    assert.equal((await exchangeRaw(t, gate.port, lines)).status, 200, query);
  }
  assert.deepEqual(
    upstream.seen.map(({ url, headers }) => [url, headers.host]),
    queries.map((query) => [`/tenant/api/v1/models${query}`, new URL(upstream.origin).host]),
  );
  assert.equal(elsewhere.connections(), 0);
});
