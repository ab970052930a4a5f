import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import {
  expectedGlance,
  expectedTable,
  readGlance,
  readTable,
  startWithRecords,
} from "../../../helpers/client/dashboard.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const BY_PLAN = { tool: "claude-code", upstream: "plan:claude", key: "plan:claude" };

/** Requests of a tool with a plan, one of a model without a price, and one of a tool with a key. */
function records() {
  const now = aMinuteAgoToday();
  const shared = { model: "claude-sonnet-5", tokens: tokens({ input_uncached: 100_000, output: 9_000 }) };
  return [BY_PLAN, { ...BY_PLAN, model: "nobody-1" }, { tool: "codex", upstream: "default" }].map((one, at) =>
    usageRecord({ ...shared, ...one, ts: new Date(now + at).toISOString() }),
  );
}

test(
  "where a plan paid, the overview has its worth beside the cost, in the table, by account and in the CSV",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
    await page.goto(`${daemon.url}/#/overview?since=7d`);
    await page.waitForSelector('caption:text-is("Usage by tool")');
    await page.selectOption('label:has-text("By") select', "account");
    await page.waitForSelector('caption:text-is("Usage by account")');
    const usage = async (...words: string[]) =>
      (await daemon.command("usage", "--json", "--timezone=UTC", ...words)).stdout;
    const week = await usage("--since=7d", "--by=account");
    const table = await readTable(page);
    assert.deepEqual(table, expectedTable(week, "account"));
    // The second cell is the worth.
    assert.deepEqual(
      ["key", "plan", "total"].map((name) => table[name]?.slice(0, 2)),
      [
        ["0.29", ""],
        ["0", "0.29"],
        ["0.29", "0.29"],
      ],
    );
    const cells = page.locator('tr:has(th:text-is("plan")) td');
    assert.deepEqual((await cells.allTextContents()).slice(0, 2), ["plan", "≥$0.290"]);
    const glance = await readGlance(page);
    assert.deepEqual(
      glance,
      expectedGlance(
        week,
        await usage("--since=2000-01-01", "--until=2000-01-02"),
        "the 7 days before",
        records()[0]?.ts.slice(0, 10),
      ),
    );
    assert.match(glance["Cost"]?.[2] ?? "", /worth ≥\$0\.290 at the prices of a key/);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.click('button:text-is("Download CSV")'),
    ]);
    const csv = readFileSync(await download.path(), "utf8");
    assert.match(csv, /^account,cost,worth,requests,[^]*\r\nplan,0,0\.29,2,/);
    await page.goto(`${daemon.url}/#/overview?since=7d&tool=codex`);
    await page.waitForSelector('main[aria-busy="false"] .period:not(:has-text("plan"))');
    assert.deepEqual(await page.locator("thead th").allTextContents(), [
      "tool",
      "cost",
      "requests",
      "tokens in",
      "from cache",
      "tokens out",
      "failed",
      "certainty",
    ]);
    assert.deepEqual(problems, []);
  },
);

test(
  "a list of sessions has what a plan paid beside the cost, and its CSV has it apart",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page, problems } = await openChromium(t);
    await page.goto(`${daemon.url}/#/sessions?since=7d`);
    const costs = page.locator('.sessions tbody [data-column="cost"]');
    await costs.first().waitFor();
    assert.deepEqual((await costs.allTextContents()).toSorted(), ["$0.290", "plan (≥$0.290)"]);
    assert.equal(await page.locator('.sessions [data-column="worth"]:visible').count(), 0);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.click('button:text-is("Download CSV")'),
    ]);
    assert.match(readFileSync(await download.path(), "utf8"), /,cost,worth,requests,[^]*,0,0\.29,2,/);
    assert.deepEqual(problems, []);
  },
);

test("a request that a plan paid says so in its row and when it is opened", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t);
  await page.goto(`${daemon.url}/#/requests?since=7d`);
  await page.waitForSelector(".table tbody tr");
  assert.deepEqual(await page.locator(".table tbody tr:not(.day) > :nth-child(2)").allTextContents(), [
    "$0.290",
    "plan",
    "plan",
  ]);
  await page.locator(".table tbody tr").last().locator("th button").click();
  await page.waitForSelector('dialog p:text-is("Cost: plan, because the tool\'s plan paid.")');
  assert.match((await page.textContent("dialog caption")) ?? "", /^Worth with a key \(\w+ prices\)$/);
  // 100,000 tokens at 2 dollars and 9,000 at 10 per million.
  assert.equal(await page.locator("dialog tfoot td").last().textContent(), "$0.29");
  await page.keyboard.press("Escape");
  await page.locator(".table tbody tr:not(.day)").nth(1).locator("th button").click();
  await page.waitForSelector('dialog p:text-is("Worth: unpriced.")');
  assert.deepEqual(problems, []);
});
