// F9, other documents of our own origin: a page that an earlier program on the port left in the browser, or that an upstream sends, has our
// origin, and still gets no feed. Neither does a service worker that an earlier program left.
import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../helpers/client/browser.ts";
import { openChromium } from "../helpers/client/chromium.ts";
import { startEarlierProgram } from "../helpers/client/earlier-program.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { FEEDS, openSession, startFeeds } from "../helpers/gate/feeds.ts";

/** What a script of our own origin sends. It cannot leave these out. */
const SCRIPT = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" };

test("a browser gets a feed only with what our own page alone knows, also where a session is approved", async (t) => {
  for (const given of [{}, { uid: null }]) {
    const { gate, sessions } = await startFeeds(t, given);
    const session = openSession(sessions);
    const own = { "x-tollkeeper-session": session };
    const ask = async (name: string, fields: Record<string, string>) => {
      const lines = Object.entries({ ...own, ...fields }).map(([field, value]) => `${field}: ${value}`);
      const head = [`GET ${FEEDS}/${name} HTTP/1.1`, `Host: 127.0.0.1:${gate.port}`, ...lines];
      return (await exchangeRaw(t, gate.port, head)).status;
    };
    for (const name of [
      "status",
      "running",
      "usage",
      "limits",
      "records",
      "cost",
      "live",
      "session",
      "nothing",
    ]) {
      assert.equal(await ask(name, SCRIPT), 403, name);
      for (const wrong of ["", "x", session])
        assert.equal(await ask(name, { ...SCRIPT, "x-tollkeeper-page": wrong }), 403, name);
    }
    for (const [field, value] of Object.entries(SCRIPT))
      assert.equal(await ask("status", { [field]: value }), field === "sec-fetch-mode" ? 200 : 403, field);
    assert.equal(await ask("status", { ...SCRIPT, "x-tollkeeper-page": sessions.pageKey }), 200);
    assert.equal(await ask("status", {}), 200);
  }
});

for (const [what, fields, isPage] of [
  ["a typed address", ["Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"], true],
  [
    "a link in a page of ours",
    ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"],
    true,
  ],
  ["a browser of 2020", ["Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"], true],
  ["a program", [], true],
  ["fetch", ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"], false],
  ["fetch of 2020", ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: same-origin"], false],
  ["a frame", ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"], false],
  ["an object", ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: object"], false],
  ["a script", ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script"], false],
  [
    "a service worker",
    ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: empty"],
    false,
  ],
] as const) {
  test(`${what} gets ${isPage ? "the page" : "no page, and so not what the page knows"}`, async (t) => {
    const { gate, sessions } = await startFeeds(t);
    const head = ["GET / HTTP/1.1", `Host: 127.0.0.1:${gate.port}`, "Accept: text/html,*/*;q=0.8", ...fields];
    const { status, text } = await exchangeRaw(t, gate.port, head);
    assert.deepEqual([status === 200, text.includes(sessions.pageKey)], [isPage, isPage]);
  });
}

for (const [what, line, fields] of [
  ["that looks for its newer version", "GET /sw.js", ["Service-Worker: script"]],
  ["that is an API route", "GET /v1/models", ["Service-Worker: script", "Sec-Fetch-Dest: serviceworker"]],
  ["that is the root", "GET /", ["Service-Worker: script", "Accept: text/html"]],
  ["that preloads", "GET /", ["Service-Worker-Navigation-Preload: true", "Accept: text/html"]],
  ["through which the page comes", "GET /", ["Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: empty"]],
] as const) {
  test(`a service worker ${what} is refused, and the browser is told to remove it`, async (t) => {
    const { gate, upstream } = await startFeeds(t);
    const head = [`${line} HTTP/1.1`, `Host: 127.0.0.1:${gate.port}`, ...fields];
    const { status, refusal, headers } = await exchangeRaw(t, gate.port, head);
    assert.deepEqual([status, refusal], [403, "browser_not_allowed"]);
    assert.equal(headers.find(([name]) => name === "clear-site-data")?.[1], '"storage"');
    assert.equal(upstream.seen.length, 0);
  });
}

/** Tries to read what the daemon tells, with everything that a document of its origin can do. Returns what it got. */
const ATTACK = `(async () => {
  const feeds = ["status", "running", "usage", "records", "session"].map((name) => "${FEEDS}/" + name);
  const read = async (path, options) => {
    try { const res = await fetch(path, options); return res.ok ? await res.text() : ""; } catch { return ""; }
  };
  const frame = (tag, attribute) => new Promise((resolve) => {
    const made = document.createElement(tag);
    made.onload = made.onerror = () => { try { resolve(made.contentDocument.documentElement.outerHTML); } catch { resolve(""); } };
    made[attribute] = "/";
    document.body.append(made);
    setTimeout(() => resolve(""), 2000);
  });
  const opened = async () => {
    const view = open("/");
    await new Promise((resolve) => setTimeout(resolve, 2000));
    try { return view.document.querySelector("meta[name=page-key]").outerHTML; } catch { return ""; }
  };
  const found = await Promise.all([
    ...[...feeds, "/_tollkeeper/metrics", "/v1/models"].map((path) => read(path)),
    ...feeds.map((path) => read(path, { referrer: "/", mode: "same-origin" })),
    ...feeds.map((path) => read(path, { headers: { "x-tollkeeper-page": "guessed" } })),
    read("/", { headers: { accept: "text/html" } }),
    read("/", { headers: { accept: "text/html" }, mode: "same-origin", credentials: "include" }),
    frame("iframe", "src"), frame("object", "data"), frame("embed", "src"),
    opened(),
    ...["/v1/models", "/models"].map((path) =>
      navigator.serviceWorker.register(path).then(() => "registered", () => "")),
  ]);
  return found.filter((text) => /page-key|listening|tollkeeper serve|"total"|rows|registered|"session"|tollkeeper_up|"id"/.test(text));
})()`;

test(
  "a page of an earlier program on our port, which is still open, reads no feed and not what our page knows",
  { skip: noBrowser },
  async (t) => {
    const earlier = await startEarlierProgram(t, (_path, res) => {
      res.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>earlier</title><body>");
    });
    const { page } = await openChromium(t);
    await page.goto(`http://127.0.0.1:${earlier.port}/`);
    await earlier.leave();
    const daemon = await startDaemon(t, { port: earlier.port, config: { export: { metrics: {} } } });
    for (const path of ["/_tollkeeper/metrics", "/v1/models"])
      assert.equal((await fetch(daemon.url + path)).status, 200, path);
    assert.equal(await page.title(), "earlier");
    assert.deepEqual(await page.evaluate(ATTACK), []);
    // Our own page, in the same browser, gets them.
    const own = await page.context().newPage();
    await own.goto(daemon.url);
    await own.waitForSelector(".empty");
  },
);

/** A page that registers a service worker for all of the origin, and says so in its title. */
const REGISTERING = `<!doctype html><title>earlier</title><script>
  navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready)
    .then(() => { document.title = "registered"; });
</script>`;

for (const [what, script, isInBetween] of [
  ["that passes everything on", "self.onfetch = (event) => event.respondWith(fetch(event.request));", true],
  ["that handles nothing", "", false],
] as const) {
  test(
    `a service worker ${what}, which an earlier program on our port left, is removed, and the page says so`,
    { skip: noBrowser },
    async (t) => {
      const earlier = await startEarlierProgram(t, (path, res) => {
        if (path === "/sw.js") res.writeHead(200, { "content-type": "text/javascript" }).end(script);
        else res.writeHead(200, { "content-type": "text/html" }).end(REGISTERING);
      });
      const { page } = await openChromium(t);
      await page.goto(`http://127.0.0.1:${earlier.port}/`);
      await page.waitForFunction('document.title === "registered"');
      await page.goto("about:blank");
      await earlier.leave();
      const daemon = await startDaemon(t, { port: earlier.port });
      const asked: string[] = [];
      page.on("request", (request) => asked.push(new URL(request.url()).pathname));
      await page.goto(daemon.url);
      if (isInBetween) await page.waitForSelector("body:has-text('a service worker is in between')");
      else await page.waitForSelector('[role="alert"]:has-text("service worker")');
      assert.deepEqual(
        asked.filter((path) => path.startsWith(FEEDS)),
        [],
      );
      await page.goto("about:blank");
      await page.goto(daemon.url);
      await page.waitForSelector(".empty");
      assert.equal(
        await page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)"),
        0,
      );
    },
  );
}
