// C8, power in a browser: headers with which an upstream could change what a browser does with 127.0.0.1 are not passed on, all others are,
// and nothing that an upstream sends runs in our origin: no browser gets it as a document, and if one did, it would have no power.
import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../helpers/client/browser.ts";
import { openChromium } from "../helpers/client/chromium.ts";
import { readMessages } from "../helpers/client/http-messages.ts";
import { sendRaw } from "../helpers/client/raw-client.ts";
import { exchangeRaw, jsonHeaders } from "../helpers/client/raw-exchange.ts";
import { rawResponse } from "../helpers/upstream/raw-upstream.ts";
import { startGateWithRawUpstream, startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { startGateWithUpstreams } from "../helpers/gate/gate-with-upstreams.ts";
import { RECORDED_REQUESTS } from "../helpers/tools/recorded-requests.ts";
import { respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";

const ACTIVE = [
  "Set-Cookie: a=b; Domain=127.0.0.1",
  "Set-Cookie: c=d; Path=/",
  "Set-Cookie2: e=f",
  "Strict-Transport-Security: max-age=31536000; includeSubDomains",
  'Clear-Site-Data: "*"',
  "Refresh: 0; url=https://evil.example/",
  'Alt-Svc: h3="evil.example:443"; ma=86400',
  "Access-Control-Allow-Origin: *",
  "Access-Control-Allow-Credentials: true",
  "Access-Control-Allow-Headers: *",
  "Access-Control-Allow-Methods: *",
  "Access-Control-Allow-Private-Network: true",
  "Access-Control-Expose-Headers: *",
  "Access-Control-Max-Age: 86400",
  "Access-Control-Anything-New: 1",
  'Proxy-Authenticate: Basic realm="evil"',
  "Proxy-Authentication-Info: nextnonce=1",
  "Service-Worker-Allowed: /",
  "Accept-CH: Sec-CH-UA-Model",
  "Critical-CH: Sec-CH-UA-Model",
  'Speculation-Rules: "/rules.json"',
  "Origin-Agent-Cluster: ?1",
  'Use-As-Dictionary: match="/*"',
  'Report-To: {"group":"g","max_age":9,"endpoints":[{"url":"https://evil.example/"}]}',
  'Reporting-Endpoints: g="https://evil.example/"',
  'NEL: {"report_to":"g","max_age":9}',
  "Set-Login: logged-in",
  "Activate-Storage-Access: load",
  'Secure-Session-Registration: (ES256);path="/"',
  "Content-Security-Policy: default-src *; report-uri https://evil.example/",
  "Content-Security-Policy-Report-Only: default-src 'none'; report-uri https://evil.example/",
  "X-Content-Type-Options: sniff",
  "Cross-Origin-Resource-Policy: cross-origin",
];

/** What keeps a browser from running a response. */
const INERT = [
  "content-security-policy: default-src 'none'; sandbox",
  "x-content-type-options: nosniff",
  "cross-origin-resource-policy: same-origin",
];

/** Headers that official clients read (docs/wire.md section 4), and unknown ones. */
const HARMLESS = [
  "content-type: application/json",
  "request-id: req_1",
  "retry-after: 3",
  "x-should-retry: true",
  "anthropic-ratelimit-tokens-remaining: 7",
  "x-ratelimit-remaining-requests: 8",
  "location: https://elsewhere.example/v1/x",
  "cf-ray: 9",
  "vary: origin",
  "x-unknown: 1",
  "x-unknown: 2",
];

for (const spelling of ["as written", "in lower case", "in upper case"]) {
  for (const status of ["200 OK", "307 Temporary Redirect", "401 Unauthorized", "529 Overloaded"]) {
    test(`of a ${status} with headers ${spelling} those that act in a browser are dropped and the others pass in order`, async (t) => {
      const active = ACTIVE.map((line) => {
        const [name = "", ...value] = line.split(":");
        if (spelling === "as written") return line;
        return [spelling === "in lower case" ? name.toLowerCase() : name.toUpperCase(), ...value].join(":");
      });
      const fields = [...active.slice(0, 8), ...HARMLESS.slice(1), ...active.slice(8)];
      const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
        socket.write(rawResponse("{}", fields.map((line) => `${line}\r\n`).join(""), status));
      });
      const client = await sendRaw(t, gate.port);
      const [response] = readMessages(await client.until(/\{\}$/)).messages;
      const ours = new Set(["content-length", "connection", "keep-alive"]);
      const passed = response?.headers
        .filter(([name]) => !ours.has(name))
        .map(([name, value]) => `${name}: ${value}`);
      assert.deepEqual(passed, [...HARMLESS, ...INERT]);
    });
  }
}

/** How a browser asks for what it shows or runs, and how one that sends no metadata does. */
const SHOWN = [
  ...["document", "iframe", "frame", "object", "embed", "fencedframe"].map(
    (name) => `Sec-Fetch-Dest: ${name}`,
  ),
  ...["script", "worker", "sharedworker", "serviceworker", "audioworklet", "paintworklet"].map(
    (name) => `Sec-Fetch-Dest: ${name}`,
  ),
  ...["style", "image", "font", "manifest", "xslt", "json", "anything-new", ""].map(
    (name) => `Sec-Fetch-Dest: ${name}`,
  ),
  "Sec-Fetch-Mode: navigate",
  "Upgrade-Insecure-Requests: 1",
  // A document of our origin that is not the dashboard.
  "Sec-Fetch-Site: same-origin",
  "Service-Worker: script",
];

for (const line of ["GET /v1/models", "GET /models", "GET /t/codex/v1/models", "POST /v1/messages"]) {
  test(`no browser gets ${line} as a document, script, style or worker; fetch gets it`, async (t) => {
    const { gate, upstream } = await startGateWithUpstream(t, respondWithEmptyJson);
    const ask = (...fields: string[]) =>
      exchangeRaw(
        t,
        gate.port,
        [`${line} HTTP/1.1`, ...jsonHeaders(gate.port), ...fields],
        line.startsWith("POST") ? "{}" : "",
      );
    for (const field of SHOWN) {
      const { status, refusal } = await ask(field);
      assert.deepEqual([field, status, refusal], [field, 403, "browser_not_allowed"]);
    }
    assert.equal(upstream.seen.length + gate.keys.reads, 0);
    // Node's fetch sends a mode, Electron's a mode and a destination.
    for (const fields of [
      ["Sec-Fetch-Mode: cors"],
      ["Sec-Fetch-Site: none", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: empty"],
      ["Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"],
    ])
      assert.equal((await ask(...fields)).status, 200, fields.join());
    assert.equal(upstream.seen.length, 3);
  });
}

test("no recorded request of a real tool is taken for a browser's", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, respondWithEmptyJson);
  let forwarded = 0;
  for (const { id, method, url, headers } of RECORDED_REQUESTS) {
    const own = headers.filter(
      ([name]) => !/^(?:host|content-length|connection|expect|accept-encoding)$/i.test(name),
    );
    const fields = own.map(([name, value]) => `${name}: ${value}`);
    const head = [`${method} ${url} HTTP/1.1`, `Host: 127.0.0.1:${gate.port}`, ...fields];
    const { refusal } = await exchangeRaw(t, gate.port, head, method === "POST" ? "{}" : "");
    assert.ok(refusal === null || refusal === "upgrade_not_supported", `${id}: ${refusal}`);
    if (method === "POST" || url.includes("/models")) forwarded += 1;
  }
  assert.equal(upstream.seen.length, forwarded);
});

test("every response of our own is without power in a browser, too", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithEmptyJson);
  for (const line of [
    "HEAD /api/hello",
    "GET /_tollkeeper/healthz",
    "GET /_tollkeeper/metrics",
    "GET /_tollkeeper/dashboard/nothing.js",
    "GET /v1/nothing",
    "GET /v1/messages",
    "PUT /v1/models",
  ]) {
    const { headers } = await exchangeRaw(t, gate.port, [`${line} HTTP/1.1`, `Host: 127.0.0.1:${gate.port}`]);
    const lines = headers.map(([name, value]) => `${name}: ${value}`);
    assert.deepEqual([line, INERT.filter((one) => !lines.includes(one))], [line, []]);
  }
});

test("a list of models that tollkeeper makes of several has no power in a browser, either", async (t) => {
  const one = { script: respondWithEmptyJson };
  const { gate } = await startGateWithUpstreams(t, { one, two: one });
  const res = await fetch(`${gate.url}/v1/models`);
  assert.match(await res.text(), /"data":/);
  assert.deepEqual(
    INERT.map((line) => line.split(": ")).map(([name = "", value]) => [res.headers.get(name), value]),
    INERT.map((line) => line.split(": ")).map(([, value]) => [value, value]),
  );
});

/** A page that would do harm in our origin. */
const HOSTILE = `<!doctype html><title>hostile</title><body><form method="post" action="/v1/messages"></form><img src="/v1/models">
<script>
  document.title = "ran";
  fetch("/_tollkeeper/v1/status");
  navigator.serviceWorker.register("/v1/models");
</script>`;

test(
  "a page that an upstream sends is not shown to a browser that is pointed at it",
  { skip: noBrowser },
  async (t) => {
    const { gate, upstream } = await startGateWithUpstream(t, (_seen, res) => {
      res.writeHead(200, { "content-type": "text/html" }).end(HOSTILE);
    });
    const { page } = await openChromium(t);
    const typed = await page.goto(`${gate.url}/v1/models`);
    assert.deepEqual([typed?.status(), await page.title()], [403, ""]);
    await page.goto(`${gate.url}/`);
    await page.evaluate('location.assign("/v1/models")');
    await page.waitForSelector("body:has-text('a browser may not open this')");
    assert.equal(upstream.seen.length, 0);
  },
);

for (const type of [
  "text/html",
  "application/xhtml+xml",
  "image/svg+xml",
  "text/plain",
  "application/json",
]) {
  test(
    `a browser that shows ${type} of an upstream all the same runs and loads nothing, and takes it for no page of ours`,
    { skip: noBrowser },
    async (t) => {
      const { gate, upstream } = await startGateWithUpstream(t, (_seen, res) => {
        const xml = `<svg xmlns="http://www.w3.org/2000/svg"><script>document.documentElement.id = "ran"</script></svg>`;
        res.writeHead(200, { "content-type": type }).end(type.endsWith("xml") ? xml : HOSTILE);
      });
      const { page } = await openChromium(t);
      const asked: string[] = [];
      // Gets the response as a program does, without what gives a browser away.
      await page.route("**/*", async (route) => {
        asked.push(new URL(route.request().url()).pathname);
        const res = await fetch(route.request().url());
        const headers = Object.fromEntries(res.headers);
        await route.fulfill({ status: res.status, headers, body: Buffer.from(await res.arrayBuffer()) });
      });
      await page.goto(`${gate.url}/v1/models`);
      assert.equal(upstream.seen.length, 1);
      assert.deepEqual([asked, (await page.title()) === "ran"], [["/v1/models"], false]);
      const [origin, id] = (await page.evaluate("[self.origin, document.documentElement.id]")) as string[];
      assert.deepEqual([origin, id], ["null", ""]);
    },
  );
}
