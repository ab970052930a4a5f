// F4, theft of the session: nothing that other users or servers can see opens the feeds: neither the arguments of a process, the browser's
// history, a referrer, a cache, a cookie nor a code that another page shows.
import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { noBrowser } from "../helpers/client/browser.ts";
import { openChromium } from "../helpers/client/chromium.ts";
import { sendPage, startEarlierProgram } from "../helpers/client/earlier-program.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { FEEDS, openSession, startFeeds } from "../helpers/gate/feeds.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

type Requested = Record<"session" | "ticket" | "code", string>;

for (const [what, given] of [
  ["where the system cannot tell who asks", { uid: null }],
  ["where local tokens are required", { needsSession: () => true }],
] as const) {
  test(`${what}, a feed wants a session, which is worth nothing until a person has approved its code`, async (t) => {
    const { sessions, ask } = await startFeeds(t, given);
    const request = async (headers = {}) => (await (await ask("session", headers)).json()) as Requested;
    for (const name of ["status", "running", "usage", "records", "live", "nothing"])
      assert.equal((await ask(name)).status, 401, name);
    const [{ session: none, ticket, code }, other] = [await request(), await request()];
    assert.equal(none, null);
    const waiting = { "x-tollkeeper-ticket": ticket };
    assert.deepEqual(await request(waiting), { session: null, ticket, code: null });
    assert.equal(sessions.approve(code), true);
    for (const wrong of [ticket, other.ticket, code])
      assert.equal((await ask("status", { "x-tollkeeper-session": wrong })).status, 401);
    assert.equal((await ask("status", waiting)).status, 401);
    const { session, ...rest } = await request(waiting);
    const own = { "x-tollkeeper-session": session };
    assert.deepEqual(rest, { ticket: null, code: null });
    assert.deepEqual(await request(own), { session, ticket: null, code: null });
    assert.equal((await ask("status", own)).status, 200);
    assert.equal((await ask("status", { "x-tollkeeper-session": other.ticket })).status, 401);
    assert.equal((await ask("status", { cookie: `tollkeeper-session=${session}` })).status, 401);
    assert.equal((await ask(`status?session=${session}`)).status, 401);
    sessions.endAll();
    assert.equal((await ask("status", own)).status, 401);
  });
}

test("who knows a ticket gets neither its code, nor the session that the page has had for it", async (t) => {
  const { sessions, ask } = await startFeeds(t, { uid: null });
  const request = async (headers = {}) => (await (await ask("session", headers)).json()) as Requested;
  const planted = await request();
  const victim = await request({ "x-tollkeeper-session": planted.ticket });
  assert.ok(victim.ticket !== planted.ticket && victim.code !== planted.code && victim.code !== null);
  assert.equal((await request({ "x-tollkeeper-ticket": planted.ticket })).code, null);
  assert.equal(sessions.approve(victim.code), true);
  const { session } = await request({ "x-tollkeeper-ticket": victim.ticket });
  assert.ok(session !== victim.ticket && session !== null);
  // Once: whoever comes second gets a new ticket, and its code would have to be approved.
  const second = await request({ "x-tollkeeper-ticket": victim.ticket });
  assert.deepEqual([second.session, second.ticket === victim.ticket], [null, false]);
  for (const known of [planted.ticket, victim.ticket])
    assert.equal((await ask("status", { "x-tollkeeper-session": known })).status, 401);
});

test("a page that follows what happens is let go when its session ends", async (t) => {
  const { sessions, ask } = await startFeeds(t, { uid: null });
  const session = openSession(sessions);
  const live = await ask("live", { "x-tollkeeper-session": session });
  const reader = live.body?.getReader();
  assert.equal((await reader?.read())?.done, false);
  sessions.endAll();
  while ((await reader?.read())?.done === false);
});

/** Opens the page where a code is wanted, and returns the code. */
async function readCode(page: Page): Promise<string> {
  const code = page.locator(".approval .code");
  await code.waitFor();
  return (await code.textContent()) ?? "";
}

async function startWithTokens(t: TestContext): Promise<Daemon> {
  return startDaemon(t, { config: { access: { mode: "token" } } });
}

test("the command opens a URL with nothing secret in it", async (t) => {
  const daemon = await startWithTokens(t);
  const directory = scratchDirectory(t);
  const [opener, seen] = [join(directory, "xdg-open"), join(directory, "seen")];
  writeFileSync(opener, `#!/bin/sh\nprintf '%s\\n' "$@" > '${seen}.part'\nmv '${seen}.part' '${seen}'\n`);
  chmodSync(opener, 0o755);
  daemon.env["PATH"] = `${directory}:${daemon.env["PATH"]}`;
  daemon.env["DISPLAY"] = ":99";
  const { stdout, stderr } = await daemon.command("dashboard");
  assert.equal(stdout, "");
  assert.match(stderr, /tollkeeper dashboard --approve CODE$/m);
  const args = await waitUntil("the opener", () => (existsSync(seen) ? readFileSync(seen, "utf8") : null));
  assert.equal(args, `${daemon.url}/\n`);
});

test(
  "where tokens are required, the page shows a code, and approving it lets in that page only, without a trace in URL or cookie",
  { skip: noBrowser },
  async (t) => {
    const daemon = await startWithTokens(t);
    const [{ page }, attacker] = [await openChromium(t), await openChromium(t)];
    await attacker.page.goto(daemon.url);
    await page.goto(daemon.url);
    const [code, attackersCode] = [await readCode(page), await readCode(attacker.page)];
    assert.notEqual(code, attackersCode);
    assert.deepEqual((await daemon.command("dashboard", "--approve", "AAA-AAA")).code, 1);
    assert.equal((await daemon.command("dashboard", "--approve", code)).stdout, "the page is approved\n");
    await page.waitForSelector(".empty");
    assert.equal(await page.locator(".approval .code").count(), 0);
    assert.equal(await attacker.page.locator(".empty").count(), 0);
    assert.equal(await readCode(attacker.page), attackersCode);
    await page.reload();
    await page.waitForSelector(".empty");
    const kept = await page.evaluate("[document.cookie, localStorage.length, sessionStorage.length]");
    assert.deepEqual(kept, ["", 0, 1]);
    assert.equal(new URL(page.url()).search, "");
    await daemon.command("dashboard", "--logout");
    assert.notEqual(await readCode(page), code);
  },
);

test(
  "a server that is opened next gets nothing of the session, and nothing of it is stored",
  { skip: noBrowser },
  async (t) => {
    const daemon = await startWithTokens(t);
    const seen: IncomingMessage[] = [];
    const server = createServer((req, res) => {
      seen.push(req);
      res.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>next</title>");
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.after(() => server.close());
    const { page } = await openChromium(t);
    await page.goto(daemon.url);
    await daemon.command("dashboard", "--approve", await readCode(page));
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
      assert.ok(!all.includes(session), all);
      assert.ok(!all.includes(new URL(daemon.url).host), all);
    }
    await page.goBack();
    await page.waitForSelector(".empty");
  },
);

test(
  "what an earlier program planted in the tab's storage is neither shown a code for, nor approved with it",
  { skip: noBrowser },
  async (t) => {
    const earlier = await startEarlierProgram(t, (_path, res) => sendPage(res, "<!doctype html><body>"));
    const { page } = await openChromium(t);
    await page.goto(`http://127.0.0.1:${earlier.port}/`);
    await earlier.leave();
    const daemon = await startDaemon(t, { port: earlier.port, config: { access: { mode: "token" } } });
    const request = async (name: string, value: string) => {
      const res = await fetch(`${daemon.url}${FEEDS}/session`, { headers: { [name]: value } });
      return (await res.json()) as Requested;
    };
    const planted = await request("x-tollkeeper-session", "");
    // The page of the earlier program is still open.
    const plant = ["session", "ticket"].map(
      (name) => `sessionStorage.setItem("tollkeeper-${name}", planted)`,
    );
    await page.evaluate(`{ const planted = "${planted.ticket}"; ${plant.join(";")} }`);
    await page.goto(daemon.url);
    const code = await readCode(page);
    assert.notEqual(code, planted.code);
    const stored = `JSON.stringify(Object.values(sessionStorage))`;
    assert.equal(await page.evaluate(stored), JSON.stringify([planted.ticket]));
    await daemon.command("dashboard", "--approve", code);
    await page.waitForSelector(".empty");
    const session = String(await page.evaluate('sessionStorage.getItem("tollkeeper-session")'));
    assert.equal((await request("x-tollkeeper-session", session)).session, session);
    for (const name of ["x-tollkeeper-session", "x-tollkeeper-ticket"])
      assert.equal((await request(name, planted.ticket)).session, null);
  },
);
