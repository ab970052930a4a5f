// A4, CORS: no answer ever carries an Access-Control-* header, be it ours or the upstream's; a preflight is 405 and grants nothing.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defaultConfig } from "../../src/core/config/config.ts";
import { startGate } from "../helpers/gate/gate.ts";
import { exchangeRaw, type RawResponse } from "../helpers/client/raw-exchange.ts";
import {
  sendJson,
  MESSAGE_EVENTS,
  SSE,
  startUpstream,
  type Script,
} from "../helpers/upstream/scripted-upstream.ts";

const LISTED = "https://editor.example";

/** All that an upstream could grant, in more than one spelling. */
const GRANTS = {
  "Access-Control-Allow-Origin": "*",
  "access-control-allow-headers": "*",
  "ACCESS-CONTROL-ALLOW-METHODS": "*",
  "Access-Control-Allow-Credentials": "true",
  "Access-Control-Allow-Private-Network": "true",
  "Access-Control-Expose-Headers": "request-id",
  "Access-Control-Max-Age": "86400",
};

/** A gate that admits one origin, in front of an upstream that grants everything. */
async function openGate(t: TestContext, answer: Script = (_seen, res) => sendJson(res, {})) {
  const upstream = await startUpstream(t, (seen, res) => {
    for (const [name, value] of Object.entries(GRANTS)) res.setHeader(name, value);
    answer(seen, res);
  });
  const listen = { ...defaultConfig.listen, allowedOrigins: [LISTED] };
  const gate = await startGate(t, upstream.baseUrl, { config: { listen } });
  const ask = (line: string, ...fields: string[]) => {
    const host = `Host: 127.0.0.1:${gate.port}`;
    const body = line.startsWith("POST") ? "{}" : "";
    return exchangeRaw(t, gate.port, [`${line} HTTP/1.1`, host, ...fields], body);
  };
  return { upstream, gate, ask };
}

const JSON_TYPE = "Content-Type: application/json";

function assertNoGrant({ headers, text }: RawResponse): void {
  assert.deepEqual(
    headers.filter(([name]) => /^(?:access-control-|timing-allow-origin)/.test(name)),
    [],
  );
  // In the head of a second answer, or in trailers.
  assert.doesNotMatch(text, /access-control-/i);
}

const ANSWERS: Record<string, [status: number, script: Script]> = {
  "an answer": [200, (_seen, res) => sendJson(res, {})],
  "a stream": [200, (_seen, res) => res.writeHead(200, SSE).end(MESSAGE_EVENTS.join(""))],
  "an error": [429, (_seen, res) => sendJson(res, { error: {} }, 429)],
  "a redirect": [307, (_seen, res) => res.writeHead(307, { location: "http://127.0.0.1:1/" }).end()],
};

for (const [what, [status, script]] of Object.entries(ANSWERS)) {
  test(`${what} of an upstream that grants everything comes without a grant`, async (t) => {
    const { upstream, ask } = await openGate(t, script);
    for (const origin of [[], [`Origin: ${LISTED}`]]) {
      const answer = await ask("POST /v1/messages", JSON_TYPE, ...origin);
      assert.equal(answer.status, status);
      assertNoGrant(answer);
    }
    assert.equal(upstream.seen.length, 2);
  });
}

const PREFLIGHT = [
  "Access-Control-Request-Method: POST",
  "Access-Control-Request-Headers: content-type,x-api-key",
  "Access-Control-Request-Private-Network: true",
];

for (const path of ["/v1/messages", "/v1/responses", "/v1/models", "/t/codex/v1/responses"]) {
  test(`a preflight for ${path} is refused without a grant, whatever its Origin`, async (t) => {
    const { upstream, ask } = await openGate(t);
    const foreign = await ask(`OPTIONS ${path}`, "Origin: https://evil.example", ...PREFLIGHT);
    assert.deepEqual([foreign.status, foreign.refusal], [403, "origin_not_allowed"]);
    for (const origin of [[], [`Origin: ${LISTED}`]]) {
      const answer = await ask(`OPTIONS ${path}`, ...origin, ...PREFLIGHT);
      assert.deepEqual([answer.status, answer.refusal], [405, "method_not_allowed"]);
      assertNoGrant(answer);
    }
    assertNoGrant(foreign);
    assert.equal(upstream.seen.length, 0);
  });
}

/** A request for each kind of answer that is our own. */
const REFUSED: [refusal: string | null, line: string, ...fields: string[]][] = [
  ["host_not_allowed", "GET /v1/models", "Host: evil.example"],
  ["origin_not_allowed", "POST /v1/messages", JSON_TYPE, "Origin: null"],
  ["not_found", "GET /"],
  ["not_found", "OPTIONS /"],
  ["not_found", "GET /_tollkeeper/metrics"],
  ["method_not_allowed", "PUT /v1/messages"],
  ["content_type", "POST /v1/messages", "Content-Type: text/plain"],
  ["bad_request", "POST /v1/messages", JSON_TYPE, JSON_TYPE],
  ["upgrade_not_supported", "GET /v1/responses", "Upgrade: websocket"],
  [null, "HEAD /"],
];

for (const [refusal, line, ...fields] of REFUSED) {
  test(`our own answer to ${[line, ...fields].join(", ")} has no grant`, async (t) => {
    const { ask } = await openGate(t);
    const answer = await ask(line, ...fields);
    assert.equal(answer.refusal, refusal);
    assertNoGrant(answer);
  });
}

test("a missing key and a broken upstream are told without a grant, to a listed origin as well", async (t) => {
  const { gate, ask } = await openGate(t, (_seen, res) => res.destroy());
  const broken = await ask("POST /v1/messages", JSON_TYPE, `Origin: ${LISTED}`);
  gate.keys.values.clear();
  gate.keyring.forget();
  const keyless = await ask("POST /v1/messages", JSON_TYPE, `Origin: ${LISTED}`);
  assert.deepEqual([broken.refusal, keyless.refusal], ["upstream_broke", "key_missing"]);
  assertNoGrant(broken);
  assertNoGrant(keyless);
});

test("what Node refuses by itself has no grant either", async (t) => {
  const { ask } = await openGate(t);
  const answer = await ask("GET /v1/models", "Origin: https://evil.example", "Broken header");
  assert.equal(answer.status, 400);
  assertNoGrant(answer);
});
