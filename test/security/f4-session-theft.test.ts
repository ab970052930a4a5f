// F4, theft of the session: neither the browser's history, a referrer, a cache, a cookie nor a server on another port learns what
// opens the feeds.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { noBrowser } from "../helpers/client/browser.ts";
import { openChromium } from "../helpers/client/chromium.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { startFeeds } from "../helpers/gate/feeds.ts";

for (const [what, given] of [
  ["where the system cannot tell who asks", { uid: null }],
  ["where local tokens are required", { needsSession: () => true }],
] as const) {
  test(`${what}, a feed wants a session, and a ticket is worth one`, async (t) => {
    const { sessions, ask } = await startFeeds(t, given);
    for (const name of ["status", "running", "usage", "records", "live", "nothing"])
      assert.equal((await ask(name)).status, 401, name);
    const ticket = sessions.issueTicket();
    const { session } = (await (await ask("session", { "x-tollkeeper-ticket": ticket })).json()) as {
      session: string;
    };
    assert.equal((await ask("status", { "x-tollkeeper-session": session })).status, 200);
    assert.equal((await ask("session", { "x-tollkeeper-ticket": ticket })).status, 401);
    assert.equal((await ask("status", { cookie: `tollkeeper-session=${session}` })).status, 401);
    assert.equal((await ask(`status?session=${session}`)).status, 401);
    sessions.endAll();
    assert.equal((await ask("status", { "x-tollkeeper-session": session })).status, 401);
  });
}

test(
  "where tokens are required, the page wants a ticket, which leaves no trace in the URL, the history or a cookie",
  { skip: noBrowser },
  async (t) => {
    const daemon = await startDaemon(t, { config: { access: { mode: "token" } } });
    const { page } = await openChromium(t);
    await page.goto(daemon.url);
    await page.waitForSelector('[role="alert"]:has-text("type: tollkeeper dashboard")');
    const url = (await daemon.command("dashboard", "--print")).stdout.trim();
    await page.goto(url);
    await page.reload();
    await page.waitForSelector(".empty");
    assert.doesNotMatch(page.url(), /ticket/);
    const kept = await page.evaluate("[document.cookie, localStorage.length, sessionStorage.length]");
    assert.deepEqual(kept, ["", 0, 1]);
    const other = await openChromium(t);
    await other.page.goto(url);
    await other.page.waitForSelector('[role="alert"]:has-text("type: tollkeeper dashboard")');
    await daemon.command("dashboard", "--logout");
    await page.reload();
    await page.waitForSelector('[role="alert"]:has-text("type: tollkeeper dashboard")');
  },
);

test(
  "a server that is opened next gets neither ticket nor session, and nothing of them is stored",
  { skip: noBrowser },
  async (t) => {
    const daemon = await startDaemon(t, { config: { access: { mode: "token" } } });
    const seen: IncomingMessage[] = [];
    const server = createServer((req, res) => {
      seen.push(req);
      res.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>next</title>");
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.after(() => server.close());
    const { page } = await openChromium(t);
    const url = (await daemon.command("dashboard", "--print")).stdout.trim();
    const ticket = new URL(url).hash.replace("#ticket=", "");
    await page.goto(url);
    await page.waitForSelector(".empty");
    const session = String(await page.evaluate('sessionStorage.getItem("tollkeeper-session")'));
    await page.evaluate(`location.assign("http://127.0.0.1:${(server.address() as AddressInfo).port}/")`);
    await page.waitForURL(/:\d+\/$/);
    await page.waitForFunction('document.title === "next"');
    const stored = JSON.stringify(
      await page.evaluate("[sessionStorage.length, localStorage.length, document.cookie, document.referrer]"),
    );
    assert.equal(stored, '[0,0,"",""]');
    for (const { url: path, rawHeaders } of seen) {
      const all = [path, ...rawHeaders].join(" ");
      assert.ok(!all.includes(ticket) && !all.includes(session), all);
      assert.ok(!all.includes(new URL(daemon.url).host), all);
    }
    await page.goBack();
    await page.waitForSelector(".empty");
    assert.ok(!page.url().includes(ticket));
  },
);
