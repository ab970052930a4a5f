import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords } from "../../../helpers/client/dashboard.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";
import { waitInPage } from "../../../helpers/client/wait-in-page.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Two tools today and three days ago, in UTC: 10 and 20 dollars, 5 and 5. */
function records() {
  return [3, 0].flatMap((days) =>
    ["codex", "zed"].map((tool, at) =>
      usageRecord({
        ts: new Date(Date.now() - days * DAY_MS).toISOString(),
        tool,
        model: "claude-sonnet-5",
        upstream: "default",
        tokens: tokens({ output: days === 3 ? 1_000_000 * (at + 1) : 500_000 }),
      }),
    ),
  );
}

test(
  "bars are as high as what they stand for, today is paler, and the chart follows the window",
  { skip: noBrowser },
  async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page, problems } = await openChromium(t, {
      timezoneId: "UTC",
      viewport: { width: 1_200, height: 900 },
    });
    await page.goto(`${daemon.url}/#/overview?since=7d`);
    await page.waitForSelector(".chart svg");
    const boxes = await page.$$eval(".chart .bars", (all) =>
      all.map((bars) => {
        const { y, height } = bars.getBoundingClientRect();
        return { name: bars.getAttribute("class") ?? "", y, height };
      }),
    );
    const heights = (isOpen: boolean) =>
      boxes
        .filter(({ name }) => name.includes("unfinished") === isOpen)
        .map(({ height }) => height)
        .toSorted((one, other) => one - other);
    const [small = 0, large = 0] = heights(false);
    assert.ok(small > 20 && Math.abs(large - 2 * small) < 0.1, `${small}, ${large}`);
    for (const height of heights(true)) assert.ok(Math.abs(height - small / 2) < 0.1, `${height}`);
    // The higher one stands on the other.
    const tops = boxes.filter(({ name }) => !name.includes("unfinished")).map(({ y }) => y);
    const bottoms = boxes
      .filter(({ name }) => !name.includes("unfinished"))
      .map(({ y, height }) => y + height);
    assert.ok(Math.abs(Math.min(...bottoms) - Math.max(...tops)) < 0.1);
    const labels = await page.locator(".chart svg text").allTextContents();
    assert.ok(labels.includes("$30.00"), labels.join());
    await page.setViewportSize({ width: 700, height: 900 });
    await waitInPage(
      page,
      "document.querySelector('.chart svg').clientWidth === document.querySelector('.plot').clientWidth",
    );
    // No label is cut off.
    const isInside = await page.$$eval(".chart svg text", (all) =>
      all.every((one) => {
        const [own, whole] = [one.getBoundingClientRect(), one.closest("svg")?.getBoundingClientRect()];
        return whole !== undefined && own.left >= whole.left - 1 && own.right <= whole.right + 1;
      }),
    );
    assert.ok(isInside);
    assert.deepEqual(problems, []);
  },
);
