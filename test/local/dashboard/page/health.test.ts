import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { writeRecords } from "../../../helpers/client/dashboard.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { launchDaemon, prepareHome, startDaemon } from "../../../helpers/daemon/daemon.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { writeKeyFile } from "../../../helpers/keychain/key-file.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const UPSTREAMS = '.part:has(h2:text-is("Upstreams"))';
const BUDGETS = '.part:has(h2:text-is("Budgets"))';
const LEDGER = '.part:has(h2:text-is("Ledger and disk"))';

test(
  "health names what is wrong, warns of lines that cannot be read, and names a model without a price once",
  { skip: noBrowser },
  async (t) => {
    const { config: keys } = writeKeyFile(t, "http://127.0.0.1:9/v1", "some-key");
    const config = {
      ...keys,
      budgets: [
        { usd: 9_000, per: "day" },
        { usd: 9_000, per: "month" },
      ],
      tools: { codex: { budgets: [{ tokens: 10, per: "day" }] } },
    };
    const { home } = prepareHome(t, { config });
    const ledger = join(home, "state", "tollkeeper", "ledger");
    mkdirSync(ledger, { recursive: true, mode: 0o700 });
    const now = Date.now();
    const ts = new Date(now).toISOString();
    const yesterday = new Date(now - 86_400_000).toISOString().slice(0, 10);
    const used = tokens({ input_uncached: 1_000 });
    writeRecords({ home } as Parameters<typeof writeRecords>[0], [
      usageRecord({ ts, tool: "codex", model: "odd", upstream: "default", tokens: used }),
    ]);
    writeFileSync(join(ledger, `${yesterday}.ndjson`), "none\nneither\n", { mode: 0o600 });
    const { ready, kill } = launchDaemon(home, { config });
    t.after(kill);
    const { url } = await ready;
    const { page, problems } = await openChromium(t);
    await page.goto(`${url}/#/health`);
    const line = page.locator(`${LEDGER} li.warning`);
    await line.waitFor();
    assert.match((await line.textContent()) ?? "", /^2 lines of the last 30 days cannot be read/);
    assert.equal(await line.locator("code").textContent(), "tollkeeper ledger verify");
    assert.match(
      (await page.textContent(".verdict-line.of-failure")) ?? "",
      /^codex is refused until .+\. 1 more needs attention\. No upstream was contacted yet\.$/,
    );
    assert.deepEqual(await page.locator(`${BUDGETS} .hint code`).allTextContents(), [
      "tollkeeper prices odd",
    ]);
    assert.deepEqual(problems, []);
  },
);

test(
  "an upstream that was not asked is grey, and one that worked is green",
  { skip: noBrowser },
  async (t) => {
    const upstream = createServer((req, res) => {
      req.resume();
      res.setHeader("content-type", "application/json");
      res.end(JSON.stringify({ type: "message", model: "m", usage: { input_tokens: 3, output_tokens: 5 } }));
    });
    upstream.listen(0, "127.0.0.1");
    await once(upstream, "listening");
    t.after(() => {
      upstream.closeAllConnections();
      upstream.close();
    });
    const { port } = upstream.address() as AddressInfo;
    const { config } = writeKeyFile(t, `http://127.0.0.1:${port}/v1`, "some-key");
    const { default: one } = config.upstreams as { default: object };
    const other = { ...one, models: ["other-*"] };
    const daemon = await startDaemon(t, { config: { ...config, upstreams: { default: one, other } } });
    await (await post(daemon, "/t/codex/v1/messages", { model: "m", max_tokens: 5, messages: [] })).text();
    const { page, problems } = await openChromium(t);
    await page.goto(`${daemon.url}/#/health`);
    await page.waitForSelector(`${UPSTREAMS} li.good`);
    const colours = await page.$$eval(`${UPSTREAMS} li:has(strong)`, (all) =>
      all.map((item) => item.ownerDocument.defaultView?.getComputedStyle(item, "::before").backgroundColor),
    );
    assert.deepEqual(
      [colours.length, await page.locator(`${UPSTREAMS} li.idle strong`).allTextContents()],
      [2, ["other"]],
    );
    assert.notEqual(colours[0], colours[1]);
    assert.equal(await page.locator(`${UPSTREAMS} h2`).getAttribute("data-said"), "1 of 2 used");
    // On a phone, each part that a tap opens has the same mark.
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    await page.waitForSelector(`${UPSTREAMS} summary`);
    const marks = await page.$$eval(".part summary h2", (all) =>
      all.map((head) => head.ownerDocument.defaultView?.getComputedStyle(head, "::after").content ?? ""),
    );
    assert.ok(marks.length > 1 && marks.every((mark) => mark.includes("▾")), marks.join());
    assert.deepEqual(problems, []);
  },
);
