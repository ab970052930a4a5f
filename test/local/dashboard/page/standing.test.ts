/** What the overview says before its chart: today, the month, budgets, and what the period is compared with. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { formatDay } from "../../../../src/local/dashboard/page/numbers.ts";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords, writeRecords } from "../../../helpers/client/dashboard.ts";
import { launchDaemon, prepareHome } from "../../../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../../../helpers/keychain/key-file.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** A request at this time of day, so many days ago, for that many dollars. */
function request(daysAgo: number, dollars: number, changes: Partial<UsageRecord> = {}): UsageRecord {
  return usageRecord({
    ts: new Date(aMinuteAgoToday() - daysAgo * DAY_MS).toISOString(),
    tool: "codex",
    model: "claude-sonnet-5",
    upstream: "default",
    tokens: tokens({ output: dollars * 100_000 }),
    ...changes,
  });
}

/** 70 days with a dollar each, and today two more. What is assumed for a model without a price has spent the budget of the day. */
async function startRefusing(t: TestContext) {
  const { config: keys } = writeKeyFile(t, "https://api.anthropic.com/v1", "some-key");
  const budgets = [
    { usd: 4, per: "day" },
    { usd: 9_000, per: "month" },
  ];
  const tools = {
    codex: { budgets: [{ usd: spentByMidnight(3), per: "day" }] },
    zed: { budgets: [{ usd: 900, per: "week" }] },
    pi: { budgets: [{ usd: 800, per: "week" }] },
  };
  const config = { ...keys, budgets, tools };
  const { home } = prepareHome(t, { config });
  mkdirSync(join(home, "state", "tollkeeper", "ledger"), { recursive: true, mode: 0o700 });
  const { ready, kill } = launchDaemon(home, { config });
  t.after(kill);
  const odd = request(0, 0, { tool: "zed", model: "odd", tokens: tokens({ output: 50_000 }) });
  writeRecords({ home } as Parameters<typeof writeRecords>[0], [
    ...Array.from({ length: 70 }, (_, at) => request(at, 1)),
    request(0, 2),
    odd,
  ]);
  await (await ready).stop();
  const next = launchDaemon(home, { config });
  t.after(next.kill);
  return next.ready;
}

/** Dollars of a budget for the day that is half used at least, and spent before midnight at the rate until now: at any hour the page says so. */
function spentByMidnight(spent: number): number {
  const passed = (Date.now() - new Date().setHours(0, 0, 0, 0)) / DAY_MS;
  return Number((spent + Math.min(1, (spent / passed - spent) / 2)).toFixed(6));
}

async function open(page: Page, url: string, question: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`${url}/#/overview?${question}`);
  await page.waitForSelector('main[aria-busy="false"] .chart svg');
}

test("a budget that refuses because of a model without a price", { skip }, async (t) => {
  const daemon = await startRefusing(t);
  await t.test("the chart begins on the first screen, also under a banner of two commands", async (step) => {
    for (const [width, height, most] of [
      [1_440, 900, 480],
      [390, 844, 720],
    ] as const) {
      const { page, problems } = await openChromium(step, { viewport: { width, height }, timezoneId: "UTC" });
      for (const since of ["today", "30d", "month"]) {
        await open(page, daemon.url, `since=${since}`);
        await page.waitForSelector('.notices .failure:has-text("as odd has no price")');
        await page.waitForSelector('.standing .meter:has-text("At this rate, spent by")');
        const top = Number(
          await page.evaluate("document.querySelector('.chart').getBoundingClientRect().top"),
        );
        assert.ok(top <= most, `${since}, ${width} pixels wide: ${top}`);
        // It would say the opposite of the banner.
        assert.equal(await page.locator(".unusual").isVisible(), false);
      }
      assert.deepEqual(problems, []);
    }
  });

  await t.test(
    "what refuses or is half used has its bar on a phone, too; what is little used is in health",
    async (step) => {
      const { page } = await openChromium(step, { timezoneId: "UTC" });
      const shown = async (width: number) => {
        await page.setViewportSize({ width, height: 844 });
        await open(page, daemon.url, "since=today");
        return page.locator(".standing .meter:visible div:first-child span:first-child").allTextContents();
      };
      const much = ["all tools per day", "codex per day"];
      const all = await shown(1_440);
      assert.deepEqual([all.slice(0, 2), all.length], [much, 4]);
      assert.deepEqual(await shown(390), much);
      assert.deepEqual(await page.locator(".standing .more:visible").allTextContents(), ["All 5 in health"]);
      // One note in each card.
      const notes = page.locator(".standing .card:not(.meters) small:visible");
      assert.equal(await notes.count(), 2);
    },
  );

  await t.test("each remedy of the banner is copied as it has to be typed, in every view", async (step) => {
    const { page } = await openChromium(step, { permissions: ["clipboard-read", "clipboard-write"] });
    for (const view of ["overview", "live"]) {
      await page.goto(`${daemon.url}/#/${view}`);
      const buttons = page.locator('.notices button:text-is("Copy")');
      await buttons.nth(1).waitFor();
      const copied: unknown[] = [];
      for (const at of [0, 0]) {
        await buttons.nth(at).click();
        copied.push(await page.evaluate("navigator.clipboard.readText()"));
      }
      assert.deepEqual(copied, ["tollkeeper prices odd", "tollkeeper budget lift --all"]);
    }
  });
});

test("today is beside yesterday by this time, and no headline repeats a card", { skip }, async (t) => {
  const daemon = await startWithRecords(t, [request(40, 1), request(1, 2), request(0, 5)]);
  const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
  for (const since of ["today", "7d", "month"]) {
    await open(page, daemon.url, `since=${since}`);
    const text = await page.locator(".standing .card").first().locator("small").first().textContent();
    assert.equal(text, "+150% on yesterday by this time ($2.00); all of yesterday $2.00");
    assert.equal(await page.locator(".period strong").count(), since === "7d" ? 1 : 0);
  }
  await page.waitForSelector(".unusual:visible");
  assert.deepEqual(problems, []);
});

test(
  "two days are compared by shares with the two before, unless recording began among those or later",
  {
    skip,
  },
  async (t) => {
    const daemon = await startWithRecords(t, []);
    const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
    const [from, to] = [1, 0].map((days) => request(days, 1).ts.slice(0, 10));
    for (const [began, expected] of [
      [1, "the 2 days before: $0.00, recorded since yesterday"],
      [2, "the 2 days before: $1.00, recorded since SINCE"],
      [3, "the 2 days before: $2.00, recorded since SINCE"],
      [4, "0% on the 2 days before ($2.00)"],
    ] as const) {
      const records = Array.from({ length: began + 1 }, (_, at) => request(at, 1));
      writeRecords(daemon, records);
      await open(page, daemon.url, `since=${from}&until=${to}`);
      const since = formatDay(records.at(-1)?.ts.slice(0, 10) ?? "");
      assert.equal(await page.textContent(".period span"), expected.replace("SINCE", since));
      const texts = await page.locator(".glance small").allTextContents();
      const shares = texts.filter((text) => /^before: .*\((?:[+−][\d,]+%|0%|×[\d,]+)\)$/.test(text));
      assert.equal(shares.length, began === 4 ? 2 : 0, texts.join());
    }
    assert.deepEqual(problems, []);
  },
);
