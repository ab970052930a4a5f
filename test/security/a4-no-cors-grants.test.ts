// A4, CORS: no response has an Access-Control-* header, ours and the upstream's alike. A preflight is refused with 405.
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
  respondWithEmptyJson,
} from "../helpers/upstream/scripted-upstream.ts";

const LISTED = "https://editor.example";

/** Everything that an upstream could grant, in several spellings. */
const GRANTS = {
  "Access-Control-Allow-Origin": "*",
  "access-control-allow-headers": "*",
  "ACCESS-CONTROL-ALLOW-METHODS": "*",
  "Access-Control-Allow-Credentials": "true",
  "Access-Control-Allow-Private-Network": "true",
  "Access-Control-Expose-Headers": "request-id",
  "Access-Control-Max-Age": "86400",
};

/** Opens a gate that allows one origin, in front of an upstream that grants everything. */
async function openGate(t: TestContext, respond: Script = respondWithEmptyJson) {
  const upstream = await startUpstream(t, (seen, res) => {
    for (const [name, value] of Object.entries(GRANTS)) res.setHeader(name, value);
    respond(seen, res);
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
  // In the head of a second response, or in trailers.
  assert.doesNotMatch(text, /access-control-/i);
}

const RESPONSES: Record<string, [status: number, script: Script]> = {
  "a response": [200, respondWithEmptyJson],
  "a stream": [200, (_seen, res) => res.writeHead(200, SSE).end(MESSAGE_EVENTS.join(""))],
  "an error": [429, (_seen, res) => sendJson(res, { error: {} }, 429)],
  "a redirect": [307, (_seen, res) => res.writeHead(307, { location: "http://127.0.0.1:1/" }).end()],
};

for (const [what, [status, script]] of Object.entries(RESPONSES)) {
  test(`${what} of an upstream that grants everything is passed on without CORS headers`, async (t) => {
    const { upstream, ask } = await openGate(t, script);
    for (const origin of [[], [`Origin: ${LISTED}`]]) {
      const response = await ask("POST /v1/messages", JSON_TYPE, ...origin);
      assert.equal(response.status, status);
      assertNoGrant(response);
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
  test(`a preflight for ${path} is refused without CORS headers, whatever its Origin`, async (t) => {
    const { upstream, ask } = await openGate(t);
    const foreign = await ask(`OPTIONS ${path}`, "Origin: https://evil.example", ...PREFLIGHT);
    assert.deepEqual([foreign.status, foreign.refusal], [403, "origin_not_allowed"]);
    for (const origin of [[], [`Origin: ${LISTED}`]]) {
      const response = await ask(`OPTIONS ${path}`, ...origin, ...PREFLIGHT);
      assert.deepEqual([response.status, response.refusal], [405, "method_not_allowed"]);
      assertNoGrant(response);
    }
    assertNoGrant(foreign);
    assert.equal(upstream.seen.length, 0);
  });
}

/** A request for each kind of response of our own. */
const REFUSED: [refusal: string | null, line: string, ...fields: string[]][] = [
  ["host_not_allowed", "GET /v1/models", "Host: evil.example"],
  ["origin_not_allowed", "POST /v1/messages", JSON_TYPE, "Origin: null"],
  ["not_found", "GET /"],
  ["not_found", "OPTIONS /"],
  ["not_found", "GET /_tollkeeper/nothing"],
  ["method_not_allowed", "PUT /v1/messages"],
  ["content_type", "POST /v1/messages", "Content-Type: text/plain"],
  ["bad_request", "POST /v1/messages", JSON_TYPE, JSON_TYPE],
  ["upgrade_not_supported", "GET /v1/responses", "Upgrade: websocket"],
  [null, "HEAD /"],
  [null, "GET /_tollkeeper/metrics"],
];

for (const [refusal, line, ...fields] of REFUSED) {
  test(`our own response to ${[line, ...fields].join(", ")} has no CORS headers`, async (t) => {
    const { ask } = await openGate(t);
    const response = await ask(line, ...fields);
    assert.equal(response.refusal, refusal);
    assertNoGrant(response);
  });
}

test("refusals for a missing key and a broken upstream have no CORS headers, even for an allowed origin", async (t) => {
  const { gate, ask } = await openGate(t, (_seen, res) => void res.socket?.end("not HTTP\r\n"));
  const broken = await ask("POST /v1/messages", JSON_TYPE, `Origin: ${LISTED}`);
  gate.keys.values.clear();
  gate.keyring.forget();
  const keyless = await ask("POST /v1/messages", JSON_TYPE, `Origin: ${LISTED}`);
  assert.deepEqual([broken.refusal, keyless.refusal], ["upstream_invalid", "key_missing"]);
  assertNoGrant(broken);
  assertNoGrant(keyless);
});

test("a refusal by Node's parser has no CORS headers", async (t) => {
  const { ask } = await openGate(t);
  const response = await ask("GET /v1/models", "Origin: https://evil.example", "Broken header");
  assert.equal(response.status, 400);
  assertNoGrant(response);
});
