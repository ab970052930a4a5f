// A2, rebound requests: Host is judged alone and first, Origin by a list of its own; that the two agree, or that there is no Origin, says nothing.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defaultConfig } from "../../src/core/config/config.ts";
import { startGate } from "../helpers/gate/gate.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { sendJson, startUpstream } from "../helpers/upstream/scripted-upstream.ts";

/** A gate that admits one more host and one more origin, which are not each other's. */
async function openGate(t: TestContext) {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, {}));
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

/** What a browser sends once `evil.example` means 127.0.0.1: to it the request is same-origin. */
const REBOUND: Record<string, string[]> = {
  "a GET, which carries no Origin": ["GET /v1/models"],
  "a GET with what newer browsers add": ["GET /v1/models", "Sec-Fetch-Site: same-origin"],
  "a navigation": ["GET /", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"],
  "a POST with the Origin of its Host": ["POST /v1/messages", "Origin: http://evil.example:PORT"],
  "a POST with Origin, Referer and same-origin": [
    "POST /v1/responses",
    "Origin: http://evil.example:PORT",
    "Referer: http://evil.example:PORT/page",
    "Sec-Fetch-Site: same-origin",
  ],
  "a POST with an Origin of ours": ["POST /v1/messages", "Origin: http://127.0.0.1:PORT"],
  "a POST with a listed Origin": ["POST /v1/messages", "Origin: https://editor.example"],
};

for (const [what, lines] of Object.entries(REBOUND)) {
  test(`${what}, under a rebound Host, is refused for the Host`, async (t) => {
    const { upstream, gate, ask } = await openGate(t);
    const own = lines.map((line) => line.replaceAll("PORT", String(gate.port)));
    const { status, refusal } = await ask(own[0] ?? "", ...own.slice(1), `Host: evil.example:${gate.port}`);
    assert.deepEqual([status, refusal], [403, "host_not_allowed"]);
    assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
  });
}

test("a listed Host brings no Origin in, not even its own", async (t) => {
  const { upstream, ask } = await openGate(t);
  for (const origin of ["http://ide.example", "https://ide.example", "http://evil.example"]) {
    const { refusal } = await ask("POST /v1/messages", "Host: ide.example", `Origin: ${origin}`);
    assert.equal(refusal, "origin_not_allowed", origin);
  }
  assert.equal(upstream.seen.length, 0);
});

test("a listed Origin brings no Host in, not even its own", async (t) => {
  const { upstream, ask } = await openGate(t);
  const origin = "Origin: https://editor.example";
  const { refusal } = await ask("POST /v1/messages", "Host: editor.example", origin);
  assert.equal(refusal, "host_not_allowed");
  assert.equal(upstream.seen.length, 0);
});

test("a listed Host without an Origin, and one with a listed Origin, are let in", async (t) => {
  const { ask } = await openGate(t);
  assert.equal((await ask("POST /v1/messages", "Host: ide.example")).status, 200);
  const origin = "Origin: https://editor.example";
  assert.equal((await ask("POST /v1/messages", "Host: ide.example", origin)).status, 200);
});
