// A2, rebound requests: Host is checked first and on its own, Origin against a separate list. That the two agree, or that there is no
// Origin, proves nothing.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defaultConfig } from "../../src/core/config/config.ts";
import { startGate } from "../helpers/gate/gate.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";

/** Opens a gate that allows one more host and one more origin, which do not belong together. */
async function openGate(t: TestContext) {
  const upstream = await startUpstream(t, respondWithEmptyJson);
  const listen = {
    ...defaultConfig.listen,
    allowedHosts: ["ide.example"],
    allowedOrigins: ["https://editor.example"],
  };
  const gate = await startGate(t, upstream.baseUrl, { config: { listen } });
  const ask = (line: string, ...fields: string[]) =>
    exchangeRaw(
      t,
      gate.port,
      [`${line} HTTP/1.1`, "Content-Type: application/json", ...fields],
      line.startsWith("POST") ? "{}" : "",
    );
  return { upstream, gate, ask };
}

/** What a browser sends once `evil.example` resolves to 127.0.0.1: it considers the request same-origin. */
const REBOUND: Record<string, string[]> = {
  "a GET, which has no Origin": ["GET /v1/models"],
  "a GET with the headers of newer browsers": ["GET /v1/models", "Sec-Fetch-Site: same-origin"],
  "a navigation": ["GET /", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"],
  "a POST with the Origin of its Host": ["POST /v1/messages", "Origin: http://evil.example:PORT"],
  "a POST with Origin, Referer and same-origin": [
    "POST /v1/responses",
    "Origin: http://evil.example:PORT",
    "Referer: http://evil.example:PORT/page",
    "Sec-Fetch-Site: same-origin",
  ],
  "a POST with our own Origin": ["POST /v1/messages", "Origin: http://127.0.0.1:PORT"],
  "a POST with an allowed Origin": ["POST /v1/messages", "Origin: https://editor.example"],
};

for (const [what, lines] of Object.entries(REBOUND)) {
  test(`${what} and a rebound Host is refused for its Host`, async (t) => {
    const { upstream, gate, ask } = await openGate(t);
    const own = lines.map((line) => line.replaceAll("PORT", String(gate.port)));
    const { status, refusal } = await ask(own[0] ?? "", ...own.slice(1), `Host: evil.example:${gate.port}`);
    assert.deepEqual([status, refusal], [403, "host_not_allowed"]);
    assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
  });
}

test("an allowed Host does not allow any Origin, not even its own", async (t) => {
  const { upstream, ask } = await openGate(t);
  for (const origin of ["http://ide.example", "https://ide.example", "http://evil.example"]) {
    const { refusal } = await ask("POST /v1/messages", "Host: ide.example", `Origin: ${origin}`);
    assert.equal(refusal, "origin_not_allowed", origin);
  }
  assert.equal(upstream.seen.length, 0);
});

test("an allowed Origin does not allow any Host, not even its own", async (t) => {
  const { upstream, ask } = await openGate(t);
  const origin = "Origin: https://editor.example";
  const { refusal } = await ask("POST /v1/messages", "Host: editor.example", origin);
  assert.equal(refusal, "host_not_allowed");
  assert.equal(upstream.seen.length, 0);
});

test("requests with an allowed Host are admitted without an Origin and with an allowed one, up to the token that they need", async (t) => {
  const { ask } = await openGate(t);
  assert.equal((await ask("POST /v1/messages", "Host: ide.example")).refusal, "token_required");
  const origin = "Origin: https://editor.example";
  assert.equal((await ask("POST /v1/messages", "Host: ide.example", origin)).refusal, "token_required");
});
