// F2, framing: no page shows the dashboard within itself, to have it clicked unseen.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { noBrowser } from "../helpers/client/browser.ts";
import { openChromium } from "../helpers/client/chromium.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";

test("neither the page nor a feed may be framed", async (t) => {
  const daemon = await startDaemon(t);
  for (const path of ["/", "/_tollkeeper/dashboard/app.js", "/_tollkeeper/v1/status"]) {
    const res = await fetch(daemon.url + path, { headers: { accept: "text/html" } });
    assert.equal(res.status, 200, path);
    assert.equal(res.headers.get("x-frame-options"), "DENY", path);
    assert.match(res.headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/, path);
    assert.equal(res.headers.get("cross-origin-opener-policy"), "same-origin", path);
    await res.text();
  }
});

test(
  "a frame, an object and an embedded document of another page are refused",
  { skip: noBrowser },
  async (t) => {
    const daemon = await startDaemon(t);
    const html = `<!doctype html><iframe src="${daemon.url}/"></iframe><object data="${daemon.url}/"></object><embed src="${daemon.url}/">`;
    const server = createServer((_req, res) => res.writeHead(200, { "content-type": "text/html" }).end(html));
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.after(() => server.close());
    const { page } = await openChromium(t);
    const statuses: number[] = [];
    page.on("response", (res) => {
      if (res.url().startsWith(daemon.url)) statuses.push(res.status());
    });
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    assert.deepEqual(statuses, [403, 403, 403]);
  },
);
