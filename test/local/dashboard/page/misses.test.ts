import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords } from "../../../helpers/client/dashboard.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const DAY_MS = 86_400_000;
const PAST_DAYS = 25;

/** A request of a session, so many days ago. */
function request(id: string, daysAgo: number, input: number): UsageRecord {
  return usageRecord({
    upstream: "default",
    model: "claude-sonnet-5",
    tool: "codex",
    project: "/home/me/shop",
    session: id,
    ts: new Date(Date.now() - daysAgo * DAY_MS).toISOString(),
    tokens: tokens({ input_uncached: input, output: 5 }),
  });
}

/** Three sessions a day, whose costs differ a little. */
function usualDays(): UsageRecord[] {
  return Array.from({ length: PAST_DAYS * 3 }, (_, at) => at).flatMap((at) =>
    [8_000, 10_000, 9_000].map((input) =>
      request(`usual-${at}`, 1 + (at % PAST_DAYS), input + (at % 7) * 500),
    ),
  );
}

test(
  "the overview says what is out of line today as the digest does, with a link to its session",
  { skip },
  async (t) => {
    const huge = Array.from({ length: 20 }, () => request("huge", 0, 900_000));
    const daemon = await startWithRecords(t, [...usualDays(), ...huge]);
    const { page, problems } = await openChromium(t);
    await page.goto(`${daemon.url}/#/overview`);
    await page.waitForSelector(".out-of-line li");
    const { stdout } = await daemon.command("digest", "--today", "--json");
    const { out_of_line: items } = JSON.parse(stdout) as { out_of_line: { text: string }[] };
    assert.ok(items.length > 0);
    assert.deepEqual(
      (await page.locator(".out-of-line li").allTextContents()).map((text) => text.split(". ")[0]),
      items.map(({ text }) => text),
    );
    await page.click('.out-of-line a:text-is("See the session")');
    await page.waitForSelector("h2.session");
    assert.match(page.url(), /session=huge/);
    assert.deepEqual(problems, []);
  },
);

test("the record says why it missed the cache, who says so, and what that cost", { skip }, async (t) => {
  const missed = {
    ...request("one", 0, 0),
    tokens: tokens({ cache_write: 5_000, output: 5 }),
    miss: "tools_changed",
    miss_by: "said",
    miss_tokens: 4_000,
  } as const;
  const daemon = await startWithRecords(t, [missed]);
  const { page, problems } = await openChromium(t);
  await page.goto(`${daemon.url}/#/requests`);
  await page.click(".table tbody button");
  const sentence = page.locator('dialog li:has-text("It missed the cache")');
  await sentence.waitFor();
  // 4,000 tokens written at $2.50 a million, where reading them costs $0.20.
  assert.equal(
    await sentence.textContent(),
    "It missed the cache: the tools changed (said by the service). A hit would have read 4,000 tokens more from the cache, for $0.00920 less. Connect MCP servers and choose tools before a session starts, and then leave them as they are.",
  );
  assert.equal(await page.textContent("dialog caption"), "Cost (Anthropic prices)");
  await page.keyboard.press("Escape");
  // Lists of all requests, of those of a session and of those that have just ended say it alike.
  for (const view of ["requests?since=7d", "sessions?since=7d&session=one", "live"]) {
    await page.goto(`${daemon.url}/#/${view}`);
    // The live view may have another one: what this machine could not tell the owner of is refused.
    const cell = page.locator('.two-lines:not(.sessions, .agents) tbody [data-column="note"]', {
      hasText: "missed",
    });
    await cell.waitFor();
    assert.equal(await cell.textContent(), "missed the cache: the tools changed, +$0.00920");
  }
  await page.goto(`${daemon.url}/#/overview`);
  await page.waitForSelector(".unusual:not(:empty)");
  assert.equal(await page.textContent(".unusual"), "Too little is recorded to say what is unusual today");
  assert.equal(await page.textContent(".out-of-line"), "");
  assert.deepEqual(problems, []);
});

test("on a phone, the record is a sheet as high as the screen, whose head stays", { skip }, async (t) => {
  const daemon = await startWithRecords(t, [request("one", 0, 5_000)]);
  const [width, height] = [390, 500];
  const { page, problems } = await openChromium(t, { viewport: { width, height } });
  await page.goto(`${daemon.url}/#/requests?since=7d`);
  await page.click('.table tbody [data-column="time"] button');
  await page.waitForSelector("dialog table");
  await page.click("dialog summary");
  assert.deepEqual(await page.locator("dialog").boundingBox(), { x: 0, y: 0, width, height });
  await page.locator("dialog dd").last().scrollIntoViewIfNeeded();
  const close = await page.locator("dialog .close").boundingBox();
  assert.ok(close !== null && close.y >= 0 && close.y < 30, JSON.stringify(close));
  // The last line is above what fades.
  const last = await page.locator("dialog dd").last().boundingBox();
  assert.ok(last !== null && last.y + last.height <= height, JSON.stringify(last));
  await page.click("dialog .close");
  await page.waitForSelector("dialog", { state: "hidden" });
  assert.deepEqual(problems, []);
});
