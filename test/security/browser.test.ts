// A1 and A3 with a real browser: no page spends a token or reads a response.
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { listen } from "../../src/proxy/client/listener.ts";
import { noBrowser, openPage } from "../helpers/client/browser.ts";
import { startGate, type TestGate } from "../helpers/gate/gate.ts";
import { sendJson, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { withResolvers } from "../helpers/async/with-resolvers.ts";

const PAGES = new URL("pages/", import.meta.url);

/** Opens a gate whose upstream would respond to any request. */
async function openGate(t: TestContext) {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { secret: "of the upstream" }));
  return { upstream, gate: await startGate(t, upstream.baseUrl) };
}

/** Collects the status of each response by the query of its request. `all` resolves once all `marks` have one. */
function watchArrivals(t: TestContext, { gate }: TestGate) {
  const statuses: Record<string, number> = {};
  const answered = new EventEmitter();
  const handle = gate.handle.bind(gate);
  t.mock.method(gate, "handle", (req: IncomingMessage, res: ServerResponse, expectsContinue: boolean) => {
    const mark = req.url?.split("?")[1] ?? "";
    res.on("close", () => {
      statuses[mark] = res.statusCode;
      answered.emit("response");
    });
    return handle(req, res, expectsContinue);
  });
  const all = async (marks: string[]) => {
    while (marks.some((mark) => statuses[mark] === undefined)) await once(answered, "response");
    return statuses;
  };
  return { all };
}

/** Starts a server on loopback. `found` resolves with what a page posts to `/found`. */
async function openServer(t: TestContext, respond: (path: string, res: ServerResponse) => void) {
  const { promise: found, resolve: onFound } = withResolvers<unknown>();
  const server = createServer((req, res) => {
    const path = req.url?.split("?")[0] ?? "";
    res.setHeader("access-control-allow-origin", "*");
    if (path !== "/found") {
      respond(path, res);
      return;
    }
    void text(req).then((json) => onFound(JSON.parse(json)));
    res.end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => close(server));
  return { server, port: (server.address() as AddressInfo).port, found };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function sendPage(res: ServerResponse, name: string): void {
  res.writeHead(200, { "content-type": "text/html" }).end(readFileSync(new URL(name, PAGES)));
}

/** What the page cross-site.html reports. */
interface CrossSiteFindings {
  own: string;
  read: Record<string, string>;
}

for (const host of ["127.0.0.1", "evil.test"]) {
  test(
    `a page from another port of ${host} can read nothing and spend nothing`,
    { skip: noBrowser, timeout: 300_000 },
    async (t) => {
      const { upstream, gate } = await openGate(t);
      const arrivals = watchArrivals(t, gate);
      const { port, found } = await openServer(t, (path, res) =>
        path === "/" ? sendPage(res, "cross-site.html") : res.end("its own"),
      );
      openPage(t, `http://${host}:${port}/?gate=${gate.url}`);
      const { own, read } = (await found) as CrossSiteFindings;
      const marks = Object.keys(read);
      assert.equal(own, "200 its own");
      assert.deepEqual(read, Object.fromEntries(marks.map((mark) => [mark, "nothing"])));
      // Each request, or its preflight, has reached the gate.
      const statuses = await arrivals.all(marks);
      assert.deepEqual(statuses, Object.fromEntries(marks.toSorted().map((mark) => [mark, 403])));
      assert.equal(upstream.seen.length + gate.ledger.records.length + gate.keys.reads, 0);
    },
  );
}

test(
  "a page whose name is rebound to the gate can read only refusals",
  { skip: noBrowser, timeout: 300_000 },
  async (t) => {
    const { upstream, gate } = await openGate(t);
    const arrivals = watchArrivals(t, gate);
    const site = await openServer(t, (_path, res) => sendPage(res, "rebound.html"));
    const collector = await openServer(t, (_path, res) => {
      void rebind(t, site, gate).then(() => res.end());
    });
    openPage(t, `http://evil.test:${site.port}/?collector=http://127.0.0.1:${collector.port}`);
    const found = (await collector.found) as Record<string, string>;
    const { frame, socket, ...fetched } = found;
    for (const response of Object.values(fetched)) assert.equal(response, "403 host_not_allowed");
    // In the frame is a refusal, which has an origin of its own.
    assert.deepEqual([frame, socket], ["nothing", "nothing"]);
    const statuses = await arrivals.all(Object.keys(found));
    assert.deepEqual([...new Set(Object.values(statuses))], [403]);
    assert.equal(upstream.seen.length + gate.ledger.records.length + gate.keys.reads, 0);
  },
);

/** Puts the gate behind the name and port of the site. */
async function rebind(
  t: TestContext,
  { server, port }: { server: Server; port: number },
  { gate }: TestGate,
): Promise<void> {
  await close(server);
  const listener = await listen(port, gate);
  t.after(() => listener.destroy());
}
