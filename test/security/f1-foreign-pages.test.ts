// F1, foreign pages and the dashboard: no page of another origin, another port of localhost or a rebound name reads a feed.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { noBrowser } from "../helpers/client/browser.ts";
import { openChromium } from "../helpers/client/chromium.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { FEEDS, startFeeds } from "../helpers/gate/feeds.ts";

for (const [what, fields] of [
  ["another origin", ["Origin: https://evil.example"]],
  ["a page on another port of localhost", ["Origin: http://127.0.0.1:3000", "Sec-Fetch-Site: same-site"]],
  ["a cross-site request without an origin, as of a script or image", ["Sec-Fetch-Site: cross-site"]],
  ["a same-site one, as from another port", ["Sec-Fetch-Site: same-site"]],
  ["a foreign referrer", ["Referer: https://evil.example/"]],
] as const) {
  test(`${what} gets no feed`, async (t) => {
    const { gate } = await startFeeds(t);
    const own = `Host: 127.0.0.1:${gate.port}`;
    const { refusal } = await exchangeRaw(t, gate.port, [`GET ${FEEDS}/status HTTP/1.1`, own, ...fields]);
    assert.equal(refusal, "origin_not_allowed");
  });
}

test("a name that is not ours gets no feed", async (t) => {
  const { gate } = await startFeeds(t);
  const { refusal } = await exchangeRaw(t, gate.port, [`GET ${FEEDS}/status HTTP/1.1`, "Host: evil.example"]);
  assert.equal(refusal, "host_not_allowed");
});

/** Tries every way in which a page can load from elsewhere, and puts into its title what came of each. */
function attack(target: string): string {
  return `<!doctype html><title>waiting</title><script>
    const target = ${JSON.stringify(target)};
    const load = (tag, name) => new Promise((resolve) => {
      const made = document.createElement(tag);
      made.onload = () => resolve("loaded");
      made.onerror = () => resolve("nothing");
      if (tag === "link") { made.rel = "stylesheet"; made.href = target + name; }
      else made.src = target + name;
      document.head.append(made);
    });
    Promise.all([
      ...["status", "usage", "records", "live"].map((name) =>
        fetch(target + "${FEEDS}/" + name).then((res) => res.text(), () => "nothing")),
      fetch(target + "${FEEDS}/status", { mode: "no-cors" }).then((res) => res.text(), () => "nothing"),
      load("script", "${FEEDS}/status"),
      load("script", "/_tollkeeper/dashboard/app.js"),
      load("link", "/_tollkeeper/dashboard/style.css"),
      load("img", "${FEEDS}/status"),
    ]).then((all) => { document.title = all.map((one) => one || "nothing").join(); });
  </script>`;
}

async function servePage(t: TestContext, html: string): Promise<number> {
  const server = createServer((_req, res) => res.writeHead(200, { "content-type": "text/html" }).end(html));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

for (const host of ["127.0.0.1", "evil.test"]) {
  test(`a page on another port of ${host} loads nothing of the dashboard`, { skip: noBrowser }, async (t) => {
    const daemon = await startDaemon(t);
    const { page } = await openChromium(t);
    for (const target of [daemon.url, `http://${host}:${new URL(daemon.url).port}`]) {
      const port = await servePage(t, attack(target));
      await page.goto(`http://${host}:${port}/`);
      await page.waitForFunction('document.title !== "waiting"');
      assert.equal(await page.title(), Array.from({ length: 9 }, () => "nothing").join());
    }
  });
}

test("a rebound name shows no dashboard", { skip: noBrowser }, async (t) => {
  const daemon = await startDaemon(t);
  const { page } = await openChromium(t);
  const res = await page.goto(`http://evil.test:${new URL(daemon.url).port}/`);
  assert.equal(res?.status(), 403);
  assert.equal(await page.locator("#app").count(), 0);
});
