import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords } from "../../../helpers/client/dashboard.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Requests of today and of the two days before, the dearest the oldest. */
function records() {
  const now = aMinuteAgoToday();
  return [2, 1, 0].map((days) =>
    usageRecord({
      ts: new Date(now - days * DAY_MS).toISOString(),
      tool: ["zed", "codex", "claude-code"][days] ?? "",
      model: "claude-sonnet-5",
      upstream: "default",
      session: `session-${days}`,
      tokens: tokens({ input_uncached: 1_000 * (days + 1) }),
    }),
  );
}

test("a theme is chosen, kept for the next time, and applies to the chart", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t, { colorScheme: "light" });
  await page.goto(`${daemon.url}/#/overview?since=7d`);
  await page.waitForSelector(".chart .area");
  const paper = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
  const light = await paper();
  await page.click('button:text-is("Theme: auto")');
  assert.equal(await paper(), light);
  await page.click('button:text-is("Theme: light")');
  await page.waitForSelector('button:text-is("Theme: dark")');
  const dark = await paper();
  assert.notEqual(dark, light);
  await page.reload();
  await page.waitForSelector('button:text-is("Theme: dark")');
  assert.equal(await paper(), dark);
  await page.click('button:text-is("Theme: dark")');
  assert.equal(await paper(), light);
  assert.deepEqual(problems, []);
});

test(
  "shortcuts go to the views, search, and list themselves; they can be switched off",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page, problems } = await openChromium(t);
    await page.goto(daemon.url);
    await page.waitForSelector('main[aria-busy="false"]');
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    for (const view of ["requests", "sessions", "live", "health", "overview"]) {
      await press("g", view[0] ?? "");
      await page.waitForSelector(`nav a[aria-current]:text-is("${view}")`);
    }
    await press("g", "r");
    await page.waitForSelector('input[type="search"]');
    await press("/");
    await page.keyboard.type("g s zed");
    assert.equal(await page.inputValue('input[type="search"]'), "g s zed", "letters are typed there");
    await page.locator("nav a").first().focus();
    await press("x", "s");
    assert.match(page.url(), /#.requests/, "a letter alone does nothing");
    await press("?");
    await page.waitForSelector('dialog[open] dt:nth-of-type(2) kbd:text-is("r")');
    await page.click('dialog button:text-is("Switch them off")');
    await page.waitForSelector('dialog button:text-is("Switch them on")');
    await press("Escape");
    await press("g", "h", "?");
    assert.equal(await page.locator("dialog[open]").count(), 0);
    assert.match(page.url(), /#.requests/);
    await page.click('button[aria-label="Keyboard shortcuts"]');
    await page.click('dialog button:text-is("Switch them on")');
    await press("Escape");
    await press("g", "h");
    await page.waitForSelector('nav a[aria-current]:text-is("health")');
    assert.deepEqual(problems, []);
  },
);

test("lists have a heading for each day while they are sorted by time, and a search", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t);
  const headings = page.locator("tr.day");
  for (const [view, column, named] of [
    ["requests", "time", ["today1 request, $0.00200", "yesterday1 request, $0.00400"]],
    ["sessions", "last used", ["today1 session, $0.00200", "yesterday1 session, $0.00400"]],
  ] as const) {
    await page.goto(`${daemon.url}/#/${view}?since=7d`);
    await page.waitForSelector(`th[aria-sort="descending"]:has-text("${column}")`);
    assert.deepEqual((await headings.allTextContents()).slice(0, 2), named);
    assert.equal(await headings.count(), 3);
    await page.click('th button:text-is("cost")');
    assert.equal(await headings.count(), 0);
  }
  await page.goto(`${daemon.url}/#/requests?since=7d`);
  await page.waitForSelector('summary:text-is("Speed by model")');
  await page.fill('input[type="search"]', "zed");
  assert.deepEqual(await page.locator('.table tbody [data-column="tool"]').allTextContents(), ["zed"]);
  assert.match(page.url(), /search=zed/);
  await page.fill('input[type="search"]', "nothing like it");
  await page.waitForSelector('.empty:has-text("No request in this period matches.")');
  assert.deepEqual(problems, []);
});

/** The day in UTC of the request so many days ago. */
function day(days: number): string {
  return new Date(aMinuteAgoToday() - days * DAY_MS).toISOString().slice(0, 10);
}

test("the chart says what all of a period was, and what the period before was", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
  await page.goto(`${daemon.url}/#/overview?since=${day(1)}&until=${day(0)}`);
  await page.waitForSelector(".legend .before");
  const legend = await page.locator(".legend li").allTextContents();
  // 1,000 and 2,000 tokens at 2 dollars per million; 3,000 before.
  assert.deepEqual(legend, ["codex$0.00400", "zed$0.00200", "the 2 days before, until this time$0.00600"]);
  assert.deepEqual(problems, []);
});

test("a click on a bar shows its day, and one on a name of the legend that tool", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
  await page.goto(`${daemon.url}/#/overview?since=7d`);
  const over = page.locator(".chart .area");
  await over.waitFor();
  await page.click('.legend li:has-text("codex")');
  await page.waitForSelector('button.filter:has-text("tool: codex")');
  await page.goBack();
  await page.waitForSelector("button.filter", { state: "detached" });
  await page.waitForSelector('.legend li:has-text("zed")');
  const box = await over.boundingBox();
  assert.ok(box !== null);
  // The last but one of seven days.
  await over.click({ position: { x: (box.width * 6.1) / 7.2 - box.width * 0.08, y: box.height / 2 } });
  await page.waitForURL(new RegExp(`since=${day(1)}&until=${day(1)}`));
  assert.deepEqual(problems, []);
});
