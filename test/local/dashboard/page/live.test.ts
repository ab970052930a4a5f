import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { describeRunning } from "../../../../src/core/ledger/running-request.ts";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { servePage } from "../../../helpers/client/served-page.ts";
import { startDaemon } from "../../../helpers/daemon/daemon.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const ENDED = 'table:has(caption:text-is("Ended"))';
const COST = `${ENDED} tbody td:nth-child(9)`;
const BODY = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };

test("a request that ends while the page is open gets its cost", { skip }, async (t) => {
  const daemon = await startDaemon(t);
  const { page, problems } = await openChromium(t);
  await page.goto(`${daemon.url}/#/live`);
  await page.waitForSelector('.empty h2:text-is("Nothing is running")');
  await (await post(daemon, "/t/codex/v1/messages", BODY)).text();
  // What the sandbox answers.
  await page.waitForSelector(`${COST}:text-is("free")`);
  const heads = await page.locator(`${ENDED} thead th`).allTextContents();
  assert.deepEqual([heads[3], heads[8]], ["project", "cost"]);
  assert.deepEqual(problems, []);
});

test("requests that ended are in the order of the times that they have", { skip }, async (t) => {
  const start = Date.parse(usageRecord().ts);
  // The ledger has them as they end: the second one began first.
  const ended = [
    { ts: new Date(start + 60_000).toISOString(), duration_ms: 1_000 },
    { ts: new Date(start).toISOString(), duration_ms: 308_000 },
  ].map((times) => usageRecord(times));
  const { url } = await servePage(t, () => ended.map((record) => JSON.stringify(record)).join("\n"));
  const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
  await page.goto(`${url}/#/live`);
  const rows = page.locator(`${ENDED} tbody tr:not(.day)`);
  await rows.nth(1).waitFor();
  const time = new Intl.DateTimeFormat("en-US", { timeStyle: "medium", timeZone: "UTC" });
  assert.deepEqual(
    await rows.locator("th").allTextContents(),
    [308_000, 61_000].map((ms) => time.format(new Date(start + ms))),
  );
  assert.equal(await rows.first().locator('[data-column="took"]').textContent(), "5 min 8 s");
  assert.deepEqual(problems, []);
});

test(
  "a burst takes one question for the costs in two seconds; none while the list is held, and what the ledger has not got stays open",
  { skip },
  async (t) => {
    const ledger: UsageRecord[] = [];
    const asked: number[] = [];
    const { url, feed } = await servePage(t, (query) => {
      const lines = Number(query.get("lines"));
      asked.push(lines);
      const cost = { amount_usd: "0.5", is_complete: true, is_lower_bound: false, lines: [], missing: [] };
      return ledger
        .slice(-lines)
        .map((record) => `${JSON.stringify({ ...record, cost })}\n`)
        .join("");
    });
    const { page, problems } = await openChromium(t);
    await page.goto(`${url}/#/live`);
    const live = await feed;
    const send = (event: string, data: object) =>
      live.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    const waiting = describeRunning(usageRecord({ tokens: null }));
    const beat = () => send("running", { total: 1, requests: [waiting] });
    const timer = setInterval(beat, 50);
    t.after(() => clearInterval(timer));
    await page.waitForSelector('caption:text-is("No request has ended yet")');
    assert.deepEqual(asked.splice(0), [20], "the last records, as the page opens");

    await page.click('button:text-is("Hold the list")');
    const lost = usageRecord({ model: "lost" });
    send("entry", lost);
    for (let at = 0; at < 150; at += 1) {
      const record = usageRecord({ project: "/home/me/src/shop" });
      ledger.push(record);
      send("entry", record);
    }
    await page.waitForTimeout(500);
    assert.deepEqual(asked, []);

    const start = Date.now();
    await page.click('button:text-is("Go on")');
    const priced = page.locator(COST, { hasText: "$0.500" });
    await priced.nth(149).waitFor();
    assert.equal(asked[0], 171);
    assert.ok(asked.length <= 1 + (Date.now() - start) / 2_000, String(asked));
    const row = page.locator(`${ENDED} tr:has-text("lost")`);
    assert.equal(await row.locator("td:nth-child(9)").textContent(), "…");
    const project = page.locator(`${ENDED} tbody tr:not(.day)`).first().locator("td:nth-child(4)");
    assert.equal(await project.textContent(), "shop");
    assert.equal(await project.getAttribute("title"), "/home/me/src/shop");
    assert.deepEqual(problems, []);
  },
);

test(
  "the list keeps 200 requests, headings of days apart, however it comes to be drawn",
  { skip },
  async (t) => {
    const { url, feed } = await servePage(t, () => JSON.stringify(usageRecord({ model: "before" })));
    const { page, problems } = await openChromium(t);
    await page.goto(`${url}/#/live`);
    const live = await feed;
    await page.waitForSelector('.live td:text-is("before")');
    // As `usageRecord` has it, and the day before that.
    const days = [
      usageRecord().ts,
      new Date(Date.parse(usageRecord().ts) - 86_400_000).toISOString(),
    ] as const;
    const send = (count: number, ts: string, model: string) => {
      for (let at = 0; at < count; at += 1) {
        live.write(`event: entry\ndata: ${JSON.stringify(usageRecord({ ts, model: `${model}-${at}` }))}\n\n`);
      }
    };
    const add = async (count: number, ts: string, model: string) => {
      send(count, ts, model);
      await page.waitForSelector(`.live td:text-is("${model}-${count - 1}")`);
    };
    const kept = async () => [
      await page.locator(".live tbody tr:not(.day)").count(),
      await page.locator(".live tbody tr.day").count(),
    ];
    await add(150, days[1], "earlier");
    await add(100, days[0], "later");
    assert.deepEqual(await kept(), [200, 2]);
    await page.click('button:text-is("Hold the list")');
    await page.click('button:text-is("Go on")');
    assert.deepEqual(await kept(), [200, 2]);
    await add(100, days[0], "last");
    assert.deepEqual(await kept(), [200, 1], "the earlier day's heading goes with its last row");
    await page.fill("input[type=search]", "last-7");
    assert.deepEqual(await kept(), [11, 1]);
    send(200, days[0], "other");
    await page.waitForSelector('caption:text-is("No request matches")');
    assert.deepEqual(await kept(), [0, 0]);
    await add(1, days[0], "last-7");
    assert.deepEqual(await kept(), [1, 1]);
    assert.deepEqual(problems, []);
  },
);
