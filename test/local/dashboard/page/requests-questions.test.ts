import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords } from "../../../helpers/client/dashboard.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const ROWS = ".table tbody tr:not(.day)";
const CURRENT = '.questions a[aria-current="true"]';

const NO_TOKENS = { tokens: null, usage: "none" } as const;

/** Requests of one tool: one of each end, one that missed the cache, and two that completed as usual. The second one was the most expensive. */
function records() {
  const now = aMinuteAgoToday();
  return [
    { tokens: tokens({ input_uncached: 1_000 }) },
    { tokens: tokens({ input_uncached: 90_000 }) },
    { tokens: tokens({ input_uncached: 5_000 }), miss: "tools_changed", miss_tokens: 4_000 },
    { tokens: tokens({ input_uncached: 2_000 }), outcome: "cut", cut_by: "client", usage: "partial" },
    { ...NO_TOKENS, outcome: "error", status: 529 },
    { ...NO_TOKENS, outcome: "rejected", status: 429, error_type: "budget_spent" },
  ].map((one, at) =>
    usageRecord({
      ts: new Date(now + at).toISOString(),
      tool: "zed",
      model: "claude-sonnet-5",
      upstream: "default",
      ...(one as Parameters<typeof usageRecord>[0]),
    }),
  );
}

test("links show problems, the most expensive requests and cache misses", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t);
  await page.goto(`${daemon.url}/#/requests?since=7d&tool=zed`);
  await page.waitForSelector(`${CURRENT}:has-text("All 6")`);
  const inputs = () => page.locator(`${ROWS} [data-column="tokens in"]`).allTextContents();
  for (const [name, caption, found] of [
    ["Problems 3", "Requests: problems", ["", "", "≥2,000"]],
    ["Cache misses 1", "Requests: cache misses", ["5,000"]],
  ] as const) {
    // By keyboard, which stays where it is.
    await page.getByRole("link", { name, exact: true }).press("Enter");
    await page.waitForSelector(`main[aria-busy="false"] caption:text-is("${caption}")`);
    assert.deepEqual(await inputs(), found);
    assert.deepEqual(await page.locator(CURRENT).allTextContents(), [name]);
    assert.equal(await page.locator(":focus").textContent(), name);
    assert.match(page.url(), /tool=zed/);
  }
  await page.getByRole("link", { name: "Most expensive" }).press("Enter");
  await page.locator(`${ROWS}:nth-child(6)`).waitFor();
  await page.waitForSelector(`main[aria-busy="false"] ${CURRENT}:text-is("Most expensive ")`);
  assert.equal((await inputs())[0], "90,000");
  // In another order it is the list of all.
  await page.click('th button:text-is("time")');
  await page.waitForSelector(`${CURRENT}:has-text("All 6")`);
  // The links keep what is searched for.
  await page.fill('[type="search"]', "claude");
  await page.waitForSelector('.questions a[href*="search=claude"][href*="outcome=problem"]');
  assert.deepEqual(problems, []);
});

test("on a phone, the link that is shown is in sight", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t, { viewport: { width: 390, height: 800 } });
  await page.goto(`${daemon.url}/#/requests?since=7d&outcome=missed`);
  for (const [words, isAtTheStart] of [
    ["Cache misses 1", false],
    ["All 6", true],
  ] as const) {
    if (isAtTheStart) await page.getByRole("link", { name: words, exact: true }).press("Enter");
    await page.waitForSelector(`main[aria-busy="false"] .table`);
    await page.waitForSelector(`${CURRENT}:has-text("${words}")`);
    const { x, width } = (await page.locator(CURRENT).boundingBox())!;
    assert.ok(x >= 0 && x + width <= 390, `${words}: ${x}, ${width}`);
  }
  assert.deepEqual(problems, []);
});

test("a day of requests says what they come to", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page } = await openChromium(t);
  await page.goto(`${daemon.url}/#/requests?since=7d`);
  const sum = page.locator(".day small");
  await sum.waitFor();
  assert.match((await sum.textContent()) ?? "", /^6 requests, ≥\$0\.\d+, 1 failed$/);
});

for (const [width, first, next] of [
  [1_440, 100, "Show all 300 rows"],
  [390, 25, "Show 250 rows"],
] as const)
  test(`the top of the list says how many are shown, ${width} pixels wide`, { skip }, async (t) => {
    const now = aMinuteAgoToday();
    const many = Array.from({ length: 300 }, (_, at) =>
      usageRecord({
        ts: new Date(now - at).toISOString(),
        tool: at % 2 === 0 ? "zed" : "codex",
        tokens: tokens({ output: at + 1 }),
      }),
    );
    const daemon = await startWithRecords(t, many);
    const { page, problems } = await openChromium(t, { viewport: { width, height: 800 } });
    await page.goto(`${daemon.url}/#/requests?since=7d`);
    await page.waitForSelector(`.shown strong:text-is("${first} of 300 shown")`);
    assert.equal(await page.locator(ROWS).count(), first);
    const heights = await page.$$eval(".shown strong, .table", (all) =>
      all.map((one) => one.getBoundingClientRect().top),
    );
    assert.ok(heights[0]! < heights[1]!, heights.join());
    await page.click(`button:text-is("${next}")`);
    const more = Math.min(first * 10, 300);
    await page.waitForSelector(`.shown strong:text-is("${more} of 300 shown")`);
    assert.equal(await page.locator(ROWS).count(), more);
    // What a reader has asked for stays while words are searched for.
    await page.fill('[type="search"]', "codex");
    await page.waitForSelector('.shown strong:text-is("150 of 150 matches shown")');
    assert.deepEqual(problems, []);
  });

for (const width of [1_440, 1_024, 390])
  test(`what is wrong with a request stands before its row, ${width} pixels wide`, { skip }, async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page, problems } = await openChromium(t, { viewport: { width, height: 800 } });
    await page.goto(`${daemon.url}/#/requests?since=7d`);
    const rows = page.locator(ROWS);
    await rows.nth(5).waitFor();
    const signs = await rows.evaluateAll((all) =>
      all.map((row) => {
        const sign = row.querySelector('[role="img"]');
        const cells = [...row.children].map((cell) => cell.getBoundingClientRect());
        const seen = cells.filter((cell) => cell.width > 0);
        const card = row.closest(".table")?.getBoundingClientRect();
        const at = sign?.getBoundingClientRect();
        return {
          name: sign?.getAttribute("aria-label") ?? "",
          left: (at?.left ?? 0) - (card?.left ?? 0),
          free: Math.min(...seen.map((cell) => cell.left)) - (at?.right ?? 0),
          fromTop: (at?.top ?? 0) - row.getBoundingClientRect().top,
        };
      }),
    );
    const expected = ["refused", "failed", "cut short", "missed the cache", "", ""];
    assert.deepEqual(
      signs.map(({ name }) => name),
      expected,
    );
    for (const { name, left, free, fromTop } of signs.filter(({ name: said }) => said !== ""))
      // Within the card, before the first cell, beside the first line.
      assert.ok(
        left >= 0 && free >= 0 && fromTop > 0 && fromTop < (width < 512 ? 20 : 40),
        [name, left, free, fromTop].join(),
      );
    // What reads the page aloud has it as the beginning of the row.
    const heads = page.getByRole("rowheader", { name: /^missed the cache .*\d/ });
    assert.equal(await heads.count(), 1);
    assert.deepEqual(problems, []);
  });
