// A16, names in "listen.allowedHosts" beyond loopback: browsers send no Fetch Metadata there, so nothing tells a page's GET from a
// program's. Every API request needs a local token, and nothing of tollkeeper's own is there but probes and health checks.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { defaultConfig } from "../../src/core/config/config.ts";
import { noBrowser } from "../helpers/client/browser.ts";
import { openChromium } from "../helpers/client/chromium.ts";
import { sendPage, startEarlierProgram } from "../helpers/client/earlier-program.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { FEEDS, openSession, startFeeds } from "../helpers/gate/feeds.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { prepareSettings } from "../../src/core/decide/settings.ts";
import { MemoryTokens } from "../helpers/gate/memory.ts";
import { respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";

const listing = (...allowedHosts: string[]) => ({ listen: { ...defaultConfig.listen, allowedHosts } });

/** Names as containers, virtual machines, tunnels and reverse proxies use them. The second one is loopback for browsers, but not for all. */
const NAMES = ["host.docker.internal:8655", "wsl.localhost:8655", "box.example", "127.0.0.2:8655"];

/** What a page, or a program without a registered token, can send. */
const WITHOUT_TOKEN: string[][] = [
  [],
  ["Authorization: Bearer sk-anything"],
  ["X-Api-Key: tk-codex", "Anthropic-Version: 2023-06-01"],
  [`X-Api-Key: tollkeeper-codex-${"A".repeat(43)}`],
  ["Sec-Fetch-Site: none", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"],
];

for (const name of NAMES) {
  test(`under the listed name ${name}, a request needs a registered token, and with one it is any tool's`, async (t) => {
    const tokens = new MemoryTokens();
    const token = tokens.add("codex");
    const { gate, upstream } = await startGateWithUpstream(t, respondWithEmptyJson, {
      config: listing(name, "localhost:1"),
      tokens,
    });
    const ask = (line: string, host: string, fields: string[]) => {
      const head = [`${line} HTTP/1.1`, `Host: ${host}`, "Content-Type: application/json", ...fields];
      return exchangeRaw(t, gate.port, head, line.startsWith("POST") ? "{}" : "");
    };
    const lines = ["GET /v1/models", "GET /models", "GET /t/codex/v1/models", "POST /v1/messages"];
    for (const line of lines) {
      for (const fields of WITHOUT_TOKEN) {
        const { refusal, text } = await ask(line, name, fields);
        assert.deepEqual([line, fields, refusal], [line, fields, "token_required"]);
        assert.match(text, /listen\.allowedHosts[^]*Type: tollkeeper token add /);
      }
    }
    assert.equal(upstream.seen.length + gate.keys.reads, 0);
    for (const line of lines) {
      assert.equal((await ask(line, name.toUpperCase(), [])).refusal, "token_required");
      assert.equal((await ask(line, name.toUpperCase(), [`X-Api-Key: ${token}`])).status, 200);
    }
    // A forwarded port has a loopback name, where browsers say which page asks.
    for (const host of ["localhost:1", `127.0.0.1:${gate.port}`])
      for (const line of lines) assert.equal((await ask(line, host, [])).status, 200, host);
  });
}

/** How programs, and browsers without and with metadata, ask for what is ours. */
const ASKING: string[][] = [
  [],
  ["User-Agent: Mozilla/5.0 (X11; Linux x86_64)", "Accept-Language: en"],
  ["Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"],
  ["X-Tollkeeper-Page: KEY", "X-Tollkeeper-Session: SESSION", "X-Api-Key: TOKEN"],
];

test("under a listed name, there is no page, feed or metrics, not even with what opens them elsewhere", async (t) => {
  const tokens = new MemoryTokens();
  const token = tokens.add("codex");
  const { gate, sessions } = await startFeeds(t, { config: listing("box.example"), tokens });
  const session = openSession(sessions);
  const ask = (line: string, host: string, fields: readonly string[]) => {
    const own = fields.map((field) =>
      field.replace("KEY", sessions.pageKey).replace("SESSION", session).replace("TOKEN", token),
    );
    return exchangeRaw(t, gate.port, [`${line} HTTP/1.1`, `Host: ${host}`, "Accept: text/html", ...own]);
  };
  const paths = ["/", "/t/codex", "/_tollkeeper/metrics", "/_tollkeeper/dashboard/app.js"];
  for (const path of [...paths, ...["status", "session", "live"].map((name) => `${FEEDS}/${name}`)]) {
    for (const fields of ASKING) {
      const { status, refusal, text } = await ask(`GET ${path}`, "box.example", fields);
      assert.deepEqual([path, fields, status, refusal], [path, fields, 403, "host_not_allowed"]);
      assert.doesNotMatch(text, new RegExp(`page-key|serving|${sessions.pageKey}`));
    }
  }
  for (const line of ["HEAD /", "HEAD /api/hello", "GET /_tollkeeper/healthz"])
    assert.equal((await ask(line, "box.example", [])).status, 200, line);
  assert.equal((await ask(`GET ${FEEDS}/status`, `127.0.0.1:${gate.port}`, [])).status, 200);
});

/** Sends all that a page can send to another origin, without a referrer, and says in its title when it has. */
function crossSite(target: string): string {
  return `<!doctype html><meta name="referrer" content="no-referrer"><title>waiting</title><body><script>
    const target = ${JSON.stringify(target)};
    const load = (tag, address, name) => new Promise((resolve) => {
      const made = document.createElement(tag);
      made.onload = made.onerror = () => resolve(name);
      if (tag === "link") made.rel = "stylesheet";
      made[address] = target + name;
      document.body.append(made);
    });
    Promise.all([
      fetch(target + "/v1/models?fetch", { mode: "no-cors" }).catch(() => {}),
      fetch(target + "/models?language", { mode: "no-cors", headers: { "accept-language": "*" } }).catch(() => {}),
      load("img", "src", "/v1/models?img"), load("script", "src", "/v1/models?script"),
      load("link", "href", "/v1/models?css"), load("iframe", "src", "/v1/models?frame"),
      load("script", "src", "/_tollkeeper/dashboard/app.js?own"), load("iframe", "src", "/?page"),
    ]).then(() => { document.title = "done"; });
  </script>`;
}

test(
  "a page of another origin reaches no upstream under a listed name, whatever it sends without a preflight",
  { skip: noBrowser },
  async (t) => {
    const site = createServer((_req, res) => sendPage(res, page));
    await once(site.listen(0, "127.0.0.1"), "listening");
    t.after(() => site.close());
    const { gate, upstream } = await startGateWithUpstream(t, respondWithEmptyJson);
    const { config } = gate.gate.settings;
    gate.gate.use(prepareSettings({ ...config, ...listing(`evil.test:${gate.port}`) }));
    const { port: sitePort } = site.address() as AddressInfo;
    const handle = gate.gate.handle.bind(gate.gate);
    const arrived: (readonly [query: string, hasMetadata: boolean, res: ServerResponse])[] = [];
    t.mock.method(gate.gate, "handle", (req: IncomingMessage, res: ServerResponse, expects: boolean) => {
      const hasMetadata = Object.keys(req.headers).some((name) => name.startsWith("sec-fetch-"));
      arrived.push([req.url?.split("?")[1] ?? "", hasMetadata, res]);
      return handle(req, res, expects);
    });
    const page = crossSite(`http://evil.test:${gate.port}`);
    const { page: tab } = await openChromium(t);
    await tab.goto(`http://127.0.0.1:${sitePort}/`);
    await tab.waitForFunction('document.title === "done"');
    assert.deepEqual(arrived.map(([query]) => query).toSorted(), [
      "css",
      "fetch",
      "frame",
      "img",
      "language",
      "own",
      "page",
      "script",
    ]);
    for (const [query, hasMetadata, res] of arrived)
      assert.deepEqual([query, hasMetadata, res.statusCode], [query, false, 403]);
    assert.equal(upstream.seen.length + gate.keys.reads + gate.ledger.records.length, 0);
  },
);

/** Tries to read what the daemon tells, with all that a document of its origin can send. Returns what it got. */
const SAME_ORIGIN = `(async () => {
  const read = async (path, headers) => {
    const options = { headers, referrerPolicy: "no-referrer" };
    try { const res = await fetch(path, options); return res.ok ? path + " " + await res.text() : ""; } catch { return ""; }
  };
  const post = async (path) => {
    const options = { method: "POST", body: "{}", headers: { "content-type": "application/json", "x-api-key": "x" } };
    try { const res = await fetch(path, options); return res.ok ? path : ""; } catch { return ""; }
  };
  const opened = async () => {
    const view = open("/");
    await new Promise((resolve) => setTimeout(resolve, 1000));
    try { return view.document.querySelector("meta[name=page-key]").outerHTML; } catch { return ""; }
  };
  const paths = ["/", "/v1/models", "/_tollkeeper/metrics", "/_tollkeeper/dashboard/app.js",
    ...["status", "running", "usage", "records", "session"].map((name) => "${FEEDS}/" + name)];
  const found = await Promise.all([
    ...paths.map((path) => read(path, { accept: "text/html" })),
    ...paths.map((path) => read(path, { accept: "text/html", authorization: "Bearer x", "anthropic-version": "1", "user-agent": "curl" })),
    post("/v1/messages"), opened(),
  ]);
  return found.filter((text) => text !== "");
})()`;

test(
  "a page that an earlier program left under a listed name reads nothing and reaches no upstream, although its origin is the same",
  { skip: noBrowser },
  async (t) => {
    const earlier = await startEarlierProgram(t, (_path, res) => sendPage(res, "<!doctype html><body>"));
    const { page } = await openChromium(t);
    await page.goto(`http://evil.test:${earlier.port}/`);
    await earlier.leave();
    const name = `evil.test:${earlier.port}`;
    const daemon = await startDaemon(t, {
      port: earlier.port,
      config: { listen: { allowedHosts: [name] }, export: { metrics: {} } },
    });
    assert.deepEqual(await page.evaluate(SAME_ORIGIN), []);
    const records = await daemon.ledger();
    assert.ok(records.length > 0 && records.every(({ error_type: code }) => code === "token_required"));
  },
);
