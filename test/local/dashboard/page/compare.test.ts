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
      ["house-model", "unpriced", "–", "", ""],
      ["claude-haiku-4-5", "–", "$1.00", "-$1.00", "-100%"],
      ["total", "≥$4.00", "$2.00", "+$2.00", "+100%"],
    ]);
    assert.equal(
      await page.textContent(".finding"),
      "≥$4.00, $2.00 more than the 7 days before (+100%). Most of it is claude-sonnet-5: +$3.00.",
    );
    assert.match(page.url(), /compare=before/);
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
    ["cost", "$5.00", "$1.00", "-80%"],
    ["cost of a request", "$1.67", "$1.00", "-40%"],
    ["requests", "3", "1", "-67%"],
  ]);
  await page.selectOption('.beside label:has-text("with") select', "house-model");
  await page.waitForSelector('caption:text-is("claude-sonnet-5 and house-model")');
  assert.match(page.url(), /one=claude-sonnet-5&other=house-model/);
  assert.deepEqual(problems, []);
});
