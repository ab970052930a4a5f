// A3, cross-site requests: every Origin that is not allowed is refused, including `null` and our own, as are a foreign Referer and
// the Sec-Fetch-Site of another site. A POST must have exactly one content type, application/json.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defaultConfig } from "../../src/core/config/config.ts";
import { startGate } from "../helpers/gate/gate.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";

const WEBVIEW = "vscode-webview://0abc";

/** Opens a gate that allows an editor's web view. PORT in a line stands for the gate's port. */
async function openGate(t: TestContext) {
  const upstream = await startUpstream(t, respondWithEmptyJson);
  const listen = { ...defaultConfig.listen, allowedOrigins: [WEBVIEW] };
  const gate = await startGate(t, upstream.baseUrl, { config: { listen } });
  const ask = (line: string, ...fields: string[]) => {
    const lines = [`${line} HTTP/1.1`, "Host: 127.0.0.1:PORT", ...fields];
    const own = lines.map((text) => text.replaceAll("PORT", String(gate.port)));
    return exchangeRaw(t, gate.port, own, line.startsWith("POST") ? "{}" : "");
  };
  return { upstream, gate, ask };
}

const JSON_TYPE = "Content-Type: application/json";

/** Headers that only a web page's request has. */
const BROWSER_HEADERS: string[][] = [
  ["Origin: https://evil.example"],
  ["Origin: http://localhost:3000"],
  ["Origin: null"],
  ["Origin:"],
  ["Origin: file://"],
  ["Origin: chrome-extension://abcdefghijklmnop"],
  ["Origin: http://127.0.0.1:PORT"],
  ["Origin: http://localhost:PORT"],
  ["Origin: http://127.0.0.1:PORT.evil.example"],
  [`Origin: ${WEBVIEW}.evil`],
  [`Origin: ${WEBVIEW.slice(0, -1)}`],
  [`Origin: ${WEBVIEW}/`],
  [`Origin: ${WEBVIEW} https://evil.example`],
  [`Origin: ${WEBVIEW}`, "Origin: https://evil.example"],
  ["Origin: https://evil.example", `Origin: ${WEBVIEW}`],
  [`Origin: ${WEBVIEW}`, `Origin: ${WEBVIEW}`],
  [`Origin: ${WEBVIEW}`, "Referer: https://evil.example/"],
  ["Referer: https://evil.example/"],
  ["Referer: about:blank"],
  ["Referer:"],
  ["Referer: http://127.0.0.1:PORT.evil.example/"],
  ["Referer: http://127.0.0.1:PORT@evil.example/"],
  ["Referer: http://127.0.0.1:PORT/", "Referer: https://evil.example/"],
  ["Sec-Fetch-Site: cross-site"],
  ["Sec-Fetch-Site: same-site"],
  ["Sec-Fetch-Site: Same-Origin"],
  ["Sec-Fetch-Site:"],
  ["Sec-Fetch-Site: none, cross-site"],
  ["Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"],
];

for (const marks of BROWSER_HEADERS) {
  test(`a request with ${marks.join(", ")} is refused on every route`, async (t) => {
    const { upstream, gate, ask } = await openGate(t);
    for (const line of [
      "POST /v1/messages",
      "POST /v1/messages/count_tokens",
      "POST /v1/responses",
      "GET /v1/models",
      "GET /",
      "GET /_tollkeeper/metrics",
      "HEAD /api/hello",
    ]) {
      const { status, refusal } = await ask(line, JSON_TYPE, ...marks);
      assert.deepEqual([line, status, refusal], [line, 403, "origin_not_allowed"]);
    }
    assert.equal(upstream.seen.length + gate.ledger.records.length + gate.keys.reads, 0);
  });
}

test("a foreign Origin is found after any number of other headers", async (t) => {
  const { upstream, ask } = await openGate(t);
  const many = Array.from({ length: 1500 }, (_, i) => `a${i}: b`);
  const { refusal } = await ask("GET /v1/models", ...many, "Origin: https://evil.example");
  assert.equal(refusal, "origin_not_allowed");
  assert.equal(upstream.seen.length, 0);
});

/** Content types that a form, a beacon or a `no-cors` fetch can send without a preflight, or that lax checks take for JSON. */
const TYPES: string[][] = [
  ["Content-Type: text/plain"],
  ["Content-Type: text/plain;charset=UTF-8"],
  ["Content-Type: application/x-www-form-urlencoded"],
  ["Content-Type: multipart/form-data; boundary=x"],
  [],
  ["Content-Type:"],
  ["Content-Type: application/json, text/plain"],
  ["Content-Type: text/plain; application/json"],
  ["Content-Type: text/plain, application/json"],
  ["Content-Type: application/jsonp"],
  ["Content-Type: text/json"],
  ["Content-Type: application/csp-report"],
];

for (const type of TYPES) {
  test(`a POST with ${type.join() || "no Content-Type"} is refused even without browser headers`, async (t) => {
    const { upstream, gate, ask } = await openGate(t);
    const { status, refusal } = await ask("POST /v1/messages", ...type);
    assert.deepEqual([status, refusal], [415, "content_type"]);
    assert.equal(upstream.seen.length + gate.ledger.records.length + gate.keys.reads, 0);
  });
}

for (const second of [JSON_TYPE, "Content-Type: text/plain"]) {
  test(`a POST with a second header ${second} is refused`, async (t) => {
    const { upstream, ask } = await openGate(t);
    assert.equal((await ask("POST /v1/messages", JSON_TYPE, second)).refusal, "bad_request");
    assert.equal((await ask("POST /v1/messages", second, JSON_TYPE)).refusal, "bad_request");
    assert.equal(upstream.seen.length, 0);
  });
}

/** Sent by real tools (docs/wire.md section 1), and Electron's own client. */
const HARMLESS: string[][] = [
  [],
  ["Sec-Fetch-Mode: cors"],
  ["Anthropic-Dangerous-Direct-Browser-Access: true"],
  ["Sec-Fetch-Site: none", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: empty"],
  ["Referer: http://127.0.0.1:PORT/"],
  ["HTTP-Referer: https://kilocode.ai", "X-Title: Kilo Code"],
  [`Origin: ${WEBVIEW}`, "Sec-Fetch-Site: cross-site"],
];

for (const fields of HARMLESS) {
  test(`a request with ${fields.join(", ") || "no browser headers"} is admitted`, async (t) => {
    const { ask } = await openGate(t);
    for (const line of ["POST /v1/messages", "GET /v1/models"]) {
      assert.equal((await ask(line, "Content-Type: Application/JSON; charset=utf-8", ...fields)).status, 200);
    }
  });
}

/** What names a page, also one that the configuration admits or one of our own. */
const PAGES: string[][] = [
  [`Origin: ${WEBVIEW}`],
  [`Origin: ${WEBVIEW}`, "Sec-Fetch-Site: cross-site"],
  ["Referer: http://127.0.0.1:PORT/"],
  ["Sec-Fetch-Site: none"],
];

for (const page of PAGES) {
  test(`a form with ${page.join(", ")} is refused where a route takes forms`, async (t) => {
    const { upstream, gate, ask } = await openGate(t);
    const form = ["POST /v1/files", "Content-Type: multipart/form-data; boundary=x"] as const;
    assert.equal((await ask(...form, ...page)).refusal, "origin_not_allowed");
    assert.equal(upstream.seen.length + gate.keys.reads, 0);
    assert.equal((await ask(...form)).status, 200);
  });
}
