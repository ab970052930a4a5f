import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords } from "../../../helpers/client/dashboard.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Requests of three models today and ten days ago; a million tokens of each cost 10, 15 and 5 dollars. */
function records() {
  const now = aMinuteAgoToday();
  return [
    { model: "claude-sonnet-5", before: 10, output: 100_000 },
    { model: "claude-haiku-4-5", before: 10, output: 200_000 },
    { model: "claude-sonnet-5", before: 0, output: 300_000 },
    { model: "claude-sonnet-5", before: 0, output: 100_000 },
    { model: "house-model", before: 0, output: 100_000 },
  ].map(({ model, before, output }, at) =>
    usageRecord({
      ts: new Date(now - before * DAY_MS + at).toISOString(),
      model,
      upstream: "default",
      tokens: tokens({ output }),
    }),
  );
}

test(
  "models are compared with the period before: those that grew most come first, and those that are gone stay",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
    await page.goto(`${daemon.url}/#/overview?since=7d&by=model`);
    await page.selectOption('label:has-text("Compare") select', "before");
    await page.waitForSelector('caption:text-is("Cost by model, beside the 7 days before")');
    const rows = await page.$$eval(".beside :is(tbody, tfoot) tr", (all) =>
      all.map((row) => [...row.children].slice(0, 5).map((cell) => cell.textContent)),
    );
    assert.deepEqual(rows, [
      ["claude-sonnet-5", "$4.00", "$1.00", "+$3.00", "+300%"],
      ["claude-haiku-4-5", "–", "$1.00", "−$1.00", "−100%"],
      // What has no difference is last, however the rows are sorted.
      ["house-model", "unpriced", "–", "", ""],
      ["total", "≥$4.00", "$2.00", "≥+$2.00", "+100%"],
    ]);
    assert.deepEqual(await page.locator(".period > *").allTextContents(), [
      "Last 7 days",
      "≥$4.00",
      "≥$2.00 more than the 7 days before: claude-sonnet-5 +$3.00, claude-haiku-4-5 −$1.00",
    ]);
    assert.equal(
      await page.textContent(".why"),
      "≥ means at least: not all prices are known of house-model.",
    );
    assert.match(page.url(), /compare=before/);
    // A name has its colour in the chart, and narrows the view.
    assert.equal(await page.locator(".beside tbody th .mark").count(), 3);
    await page.locator('.beside tbody button:text-is("house-model")').waitFor();
    await page.click('.beside thead button:text-is("difference")');
    assert.deepEqual(await page.locator(".beside tbody th").allTextContents(), [
      "claude-haiku-4-5",
      "claude-sonnet-5",
      "house-model",
    ]);
    // One of no price is no zero.
    assert.ok((await page.locator(".legend li").allTextContents()).includes("house-modelunpriced"));
    assert.deepEqual(problems, []);
  },
);

test("two models stand side by side; others are chosen, and the URL has them", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
  await page.goto(`${daemon.url}/#/overview?since=30d&by=model`);
  await page.selectOption('label:has-text("Compare") select', "two");
  // The two that cost most.
  await page.waitForSelector('caption:text-is("claude-sonnet-5 and claude-haiku-4-5")');
  const rows = await page.$$eval(".beside tbody tr", (all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent)),
  );
  assert.deepEqual(rows.slice(0, 3), [
    ["Cost", "$5.00", "$1.00", "−80%"],
    ["Cost per request", "$1.67", "$1.00", "−40%"],
    ["Requests", "3", "1", "−67%"],
  ]);
  const heads = await page.locator(".beside thead th").allTextContents();
  assert.deepEqual(heads, ["claude-sonnet-5", "claude-haiku-4-5", "Difference"]);
  // All figures are of the two.
  assert.equal(await page.locator(".glance, .period").count(), 0);
  assert.deepEqual(await page.locator(".legend li").allTextContents(), [
    "claude-sonnet-5$5.00",
    "claude-haiku-4-5$1.00",
  ]);
  await page.selectOption('.beside label:has-text("with") select', "house-model");
  await page.waitForSelector('caption:text-is("claude-sonnet-5 and house-model")');
  assert.match(page.url(), /one=claude-sonnet-5&other=house-model/);
  // Nothing is known of what one cost, so that there is no difference.
  assert.deepEqual(
    await page.$$eval(".beside tbody tr", (all) =>
      all.slice(0, 2).map((row) => [...row.children].map((cell) => cell.textContent)),
    ),
    [
      ["Cost", "$5.00", "unpriced", ""],
      ["Cost per request", "$1.67", "unpriced", ""],
    ],
  );
  assert.deepEqual(problems, []);
});

test("bars of two models stand beside each other, and no choice is cut on a phone", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  for (const width of [320, 390, 1_440]) {
    const { page } = await openChromium(t, { timezoneId: "UTC", viewport: { width, height: 900 } });
    for (const compare of ["two", "before"]) {
      await page.goto("about:blank");
      await page.goto(`${daemon.url}/#/overview?since=30d&by=model&compare=${compare}`);
      await page.waitForSelector(".beside tbody tr");
      await page.waitForSelector(".chart svg");
      if (compare === "two") {
        const boxes = await page.$$eval(".chart .bars:not(.unfinished)", (all) =>
          all
            .map((bars) => bars.getBoundingClientRect())
            .map(({ left, right, bottom }) => ({ left, right, bottom })),
        );
        const [one, other] = boxes;
        // Of the same day.
        assert.ok(one !== undefined && other !== undefined && one.right <= other.left + 1, `${width}`);
        assert.equal(Math.round(one.bottom), Math.round(other.bottom));
      }
      // A list as wide as its own words, beside that which has them.
      const cut = await page.$$eval("main select", (all) =>
        all.flatMap((list) => {
          const free = list.cloneNode(true) as typeof list;
          free.style.cssText = "position: absolute; width: max-content; max-width: none";
          list.after(free);
          const isCut = free.offsetWidth > list.offsetWidth;
          free.remove();
          return isCut ? [list.textContent] : [];
        }),
      );
      assert.deepEqual(cut, [], `${compare} at ${width}`);
    }
  }
});
