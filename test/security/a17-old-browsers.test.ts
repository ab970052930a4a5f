// A17, browsers without Fetch Metadata: they do not say which page sends a GET, and a page can have them leave out the referrer. What they
// send without a preflight is refused, and nothing that is no browser is taken for one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { FEEDS, startFeeds } from "../helpers/gate/feeds.ts";

const OLD = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/75.0.3770.142 Safari/537.36",
  "Mozilla/5.0 (X11; Linux x86_64; rv:89.0) Gecko/20100101 Firefox/89.0",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.3 Safari/605.1.15",
].map((agent) => `User-Agent: ${agent}`);

/** What a page can have a browser send to another origin without a preflight (Fetch, "no-CORS-safelisted request-header"). */
const SAFELISTED: string[][] = [
  [],
  ["Accept: */*", "Range: bytes=0-9"],
  ["Accept: image/webp,*/*", "Cookie: a=b"],
  ["Content-Type: text/plain", "Content-Language: en"],
  // Of a URL with a name and a password.
  ["Authorization: Basic dXNlcjpwYXNz"],
];

for (const agent of OLD) {
  test(`what any page can have a browser send reaches no upstream and reads nothing of ours: ${agent}`, async (t) => {
    const { gate, upstream, sessions } = await startFeeds(t);
    const ask = (path: string, fields: readonly string[]) =>
      exchangeRaw(t, gate.port, [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${gate.port}`, agent, ...fields]);
    const own = ["/_tollkeeper/metrics", ...["status", "usage", "session"].map((name) => `${FEEDS}/${name}`)];
    for (const language of ["en-US,en;q=0.5", "*", ""]) {
      for (const fields of SAFELISTED) {
        for (const path of ["/v1/models", "/models", "/t/codex/v1/models?x=1", ...own]) {
          const { status, refusal } = await ask(path, [`Accept-Language: ${language}`, ...fields]);
          assert.deepEqual([path, fields, status, refusal], [path, fields, 403, "browser_not_allowed"]);
        }
      }
    }
    const page = await ask("/", ["Accept: text/html", "Accept-Language: en", "Upgrade-Insecure-Requests: 1"]);
    assert.deepEqual([page.status, page.refusal], [403, "browser_not_allowed"]);
    assert.match(page.text, /too old for the dashboard[^]*Type: tollkeeper usage/);
    assert.ok(!page.text.includes(sessions.pageKey));
    assert.equal(upstream.seen.length + gate.keys.reads + gate.ledger.records.length, 0);
  });
}

const [CHROME = ""] = OLD;
const LANGUAGE = "Accept-Language: en-US,en;q=0.9";

for (const [what, fields] of [
  ["a program without any header of its own", []],
  ["curl", ["User-Agent: curl/7.88.1", "Accept: */*"]],
  ["Node's fetch", ["User-Agent: node", "Accept-Language: *", "Sec-Fetch-Mode: cors"]],
  ["Node's fetch with a browser's name", [CHROME, "Accept-Language: *", "Sec-Fetch-Mode: cors"]],
  [
    "Electron",
    [CHROME, LANGUAGE, "Sec-Fetch-Site: none", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: empty"],
  ],
  ["PowerShell", ["User-Agent: Mozilla/5.0 (Windows NT 10.0; en-US) PowerShell/7.4.6"]],
  ["a program with a language", ["User-Agent: my-agent/1 (Mozilla/5.0 compatible)", LANGUAGE]],
  ["a web view with a key", [CHROME, LANGUAGE, "X-Api-Key: tk-codex"]],
  ["a web view with a token", [CHROME, LANGUAGE, "Authorization: bearer tk-codex"]],
  ["a web view with a version", [CHROME, LANGUAGE, "Anthropic-Version: 2023-06-01"]],
  ["a web view with JSON", [CHROME, LANGUAGE, "Content-Type: application/json"]],
] as const) {
  test(`${what} gets the models`, async (t) => {
    const { gate, upstream } = await startFeeds(t);
    const head = ["GET /v1/models HTTP/1.1", `Host: localhost:${gate.port}`, ...fields];
    assert.equal((await exchangeRaw(t, gate.port, head)).status, 200);
    assert.equal(upstream.seen.length, 1);
  });
}
