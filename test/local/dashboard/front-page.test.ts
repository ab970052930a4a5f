import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingMessage, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { noBrowser, openPage } from "../../helpers/client/browser.ts";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { peersOf } from "../../helpers/gate/memory.ts";
import { respondWithMessage } from "../../helpers/upstream/scripted-upstream.ts";

/** What browsers send when a person types the address. */
const NAVIGATION = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "sec-fetch-site": "none",
  "sec-fetch-mode": "navigate",
  "sec-fetch-dest": "document",
};

/** Opens a URL as a browser does. Node's fetch would send a mode of its own. */
async function navigate(url: string, method = "GET") {
  const req = request(url, { method, headers: NAVIGATION }).end();
  const [res] = (await once(req, "response")) as [IncomingMessage];
  return { status: res.statusCode, type: res.headers["content-type"], body: await readText(res) };
}

const start = (t: TestContext, options = {}) => startGateWithUpstream(t, respondWithMessage, options);

for (const path of ["/", "/?x=1", "/t/codex"]) {
  test(`a browser at ${path} gets the page of the dashboard, and nothing is recorded`, async (t) => {
    const { upstream, gate } = await start(t);
    const { status, type, body } = await navigate(gate.url + path);
    assert.deepEqual([status, type], [200, "text/html; charset=utf-8"]);
    assert.match(body, /<title>tollkeeper<\/title>[^]*<noscript>[^]*tollkeeper usage/);
    assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
  });
}

test("the page needs no token", async (t) => {
  const { gate } = await start(t, { config: { access: { mode: "token", peerUid: [] } } });
  assert.equal((await navigate(gate.url)).status, 200);
});

for (const [what, ask] of [
  ["a client that does not ask for HTML", (url) => fetch(url)],
  ["another path", (url) => navigate(`${url}/index.html`)],
  ["another method", (url) => navigate(url, "DELETE")],
] satisfies [string, (url: string) => Promise<{ status: number | undefined }>][]) {
  test(`${what} gets no page`, async (t) => {
    const { gate } = await start(t);
    assert.equal((await ask(gate.url)).status, 404);
  });
}

test("another user gets no page", async (t) => {
  const { gate } = await start(t, { peers: peersOf(12_345) });
  assert.equal((await navigate(gate.url)).status, 400);
});

test("a real browser gets the page", { skip: noBrowser }, async (t) => {
  const { gate } = await start(t);
  const handle = gate.gate.handle.bind(gate.gate);
  const { promise: answered, resolve: onAnswered } = withResolvers<ServerResponse>();
  t.mock.method(
    gate.gate,
    "handle",
    (req: IncomingMessage, res: ServerResponse, expectsContinue: boolean) => {
      if (req.url === "/") res.once("finish", () => onAnswered(res));
      return handle(req, res, expectsContinue);
    },
  );
  openPage(t, `${gate.url}/`);
  const { statusCode } = await answered;
  assert.equal(statusCode, 200);
});

/** Bytes, uncompressed, of the page and all that it loads at first, and of these with what it loads later. */
const MOST_AT_FIRST = 125_000;
const MOST_BYTES = 155_000;

function addressesIn(text: string): string[] {
  return [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = ""]) => address);
}

function sizesOf(texts: readonly string[]): number[] {
  return texts.map((text) => Buffer.byteLength(text));
}

function sumOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, one) => sum + one, 0);
}

test("the page takes at most 125 KB at first and 155 KB with all that it loads later, and names nothing but its own files", async (t) => {
  const daemon = await startDaemon(t);
  const load = async (path: string) => (await navigate(daemon.url + path)).body;
  const page = await load("/");
  const [now = "", later = ""] = page.split("<template");
  assert.deepEqual(addressesIn(now), [
    "data:,",
    "/_tollkeeper/dashboard/style.css",
    "/_tollkeeper/dashboard/app.js",
  ]);
  assert.deepEqual(
    addressesIn(later),
    ["health", "record", "sessions"].map((name) => `/_tollkeeper/dashboard/${name}.js`),
  );
  const own = addressesIn(now).filter((address) => address.startsWith("/"));
  const files = await Promise.all(own.map(load));
  const parts = await Promise.all(addressesIn(later).map(load));
  const first = sizesOf([page, ...files]);
  const all = [...first, ...sizesOf(parts)];
  t.diagnostic(`the page takes ${sumOf(first)} bytes at first, ${sumOf(all)} in all`);
  assert.ok(all.every((one) => one > 500) && sumOf(all) <= MOST_BYTES, `${all.join(" + ")} bytes`);
  assert.ok(sumOf(first) <= MOST_AT_FIRST, `${first.join(" + ")} bytes at first`);
  // A style sheet could load more, too.
  assert.doesNotMatch(files[0] ?? "", /url\(|@import/);
});
