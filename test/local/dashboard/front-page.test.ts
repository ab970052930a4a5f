import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { noBrowser, openPage } from "../../helpers/client/browser.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { peersOf } from "../../helpers/gate/memory.ts";
import { respondWithMessage } from "../../helpers/upstream/scripted-upstream.ts";

/** What browsers send when a person types the address. */
const NAVIGATION = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "sec-fetch-site": "none",
  "sec-fetch-mode": "navigate",
};

const start = (t: TestContext, options = {}) => startGateWithUpstream(t, respondWithMessage, options);

for (const path of ["/", "/?x=1", "/t/codex"]) {
  test(`a browser at ${path} gets the page of the dashboard, and nothing is recorded`, async (t) => {
    const { upstream, gate } = await start(t);
    const res = await fetch(gate.url + path, { headers: NAVIGATION });
    assert.deepEqual([res.status, res.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    assert.match(await res.text(), /<title>tollkeeper<\/title>[^]*<noscript>[^]*tollkeeper usage/);
    assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
  });
}

test("the page needs no token", async (t) => {
  const { gate } = await start(t, { config: { access: { mode: "token", peerUid: [] } } });
  assert.equal((await fetch(gate.url, { headers: NAVIGATION })).status, 200);
});

for (const [what, path, init] of [
  ["a client that does not ask for HTML", "/", {}],
  ["another path", "/index.html", { headers: NAVIGATION }],
  ["another method", "/", { method: "DELETE", headers: NAVIGATION }],
] as const) {
  test(`${what} gets no page`, async (t) => {
    const { gate } = await start(t);
    const res = await fetch(gate.url + path, init);
    assert.deepEqual([res.status, res.headers.get("content-type")], [404, "application/json"]);
  });
}

test("another user gets no page", async (t) => {
  const { gate } = await start(t, { peers: peersOf(12_345) });
  assert.equal((await fetch(gate.url, { headers: NAVIGATION })).status, 400);
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
