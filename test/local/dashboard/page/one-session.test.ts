import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords } from "../../../helpers/client/dashboard.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Requests of sessions forty and ten days ago and of another one two days ago and today, of which one was cut short, and one missed the cache besides. */
function records() {
  const now = aMinuteAgoToday();
  return [
    { session: "ancient", days: 40 },
    { session: "old", days: 10 },
    { session: "long", days: 2 },
    { session: "long", days: 0, outcome: "cut", usage: "partial", cut_by: "client" },
    { session: "long", days: 0, outcome: "cut", usage: "partial", cut_by: "client", miss: "tools_changed" },
    { session: "long", days: 0 },
  ].map(({ days, ...changes }, at) =>
    usageRecord({
      ts: new Date(now - days * DAY_MS + at).toISOString(),
      tool: "zed",
      upstream: "default",
      model: "claude-sonnet-5",
      tokens: tokens({ cache_read: 9_000, input_uncached: 1_000, output: 500 }),
      ...(changes as Parameters<typeof usageRecord>[0]),
    }),
  );
}

test("one session is shown whole, whatever the period is, and has what it needs", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
  await page.goto(`${daemon.url}/#/sessions?since=today&session=long`);
  await page.waitForSelector(".chart .bars");
  assert.equal(await page.locator(".of-session tbody tr:not(.day)").count(), 4);
  assert.match((await page.textContent("h2.session")) ?? "", / to today, \d+:\d\d\s[AP]M$/);
  assert.equal(await page.locator("main select").count(), 0);
  // Nothing was written to a cache.
  const heads = await page.locator(".of-session thead th").allTextContents();
  assert.ok(heads.includes("from cache") && !heads.includes("to cache"), heads.join());
  assert.deepEqual(await page.locator(".chart .legend li").allTextContents(), [
    "from cache",
    "uncached",
    "cost so far",
    "missed the cache",
    "failed, refused or cut short",
  ]);
  // What the keyboard says has ≥ where the figures have it: from the first request on that was cut short.
  const plot = page.locator(".plot");
  const said = [];
  for (const key of ["Home", "ArrowRight"]) {
    await plot.press(key);
    said.push((await plot.getAttribute("aria-valuetext")) ?? "");
  }
  assert.match(said[0] ?? "", /: 10K\. from cache 9K, uncached 1K, cost so far \$0\.\d+$/);
  assert.match(said[1] ?? "", /: ≥10K\. from cache ≥9K, uncached ≥1K, cost so far ≥\$0\.\d+$/);
  assert.match((await page.locator(".chart .legend li").nth(2).textContent()) ?? "", /cost so far≥\$/);
  assert.deepEqual(problems, []);
});

test("marks stand above their bars, and above each other", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page } = await openChromium(t, { timezoneId: "UTC" });
  await page.goto(`${daemon.url}/#/sessions?since=7d&session=long`);
  await page.waitForSelector(".chart .bars");
  const edges = (selector: string) =>
    page
      .locator(`.plot ${selector}`)
      .last()
      .evaluate((part) => {
        const { top, bottom } = part.getBoundingClientRect();
        return { top, bottom };
      });
  const [bars, cross, triangle] = [await edges(".bars"), await edges(".cross"), await edges(".triangle")];
  // All bars are as high. The second cross is on the triangle, and the first one as low as that.
  assert.ok(
    triangle.bottom <= bars.top && cross.bottom <= bars.top + 1,
    JSON.stringify({ bars, cross, triangle }),
  );
  assert.ok(cross.top < triangle.top - 5, JSON.stringify({ cross, triangle }));
});

test("sessions have their hours, and those of long ago only their days", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page } = await openChromium(t, { timezoneId: "UTC" });
  for (const [since, remark] of [
    ["30d", /^2 sessions, [^ ]+$/],
    ["90d", /^3 sessions, [^ ]+\. Of earlier sessions, only the days are known, and not the models\.$/],
  ] as const) {
    await page.goto("about:blank");
    await page.goto(`${daemon.url}/#/sessions?since=${since}`);
    const cellsOf = async (session: string) => {
      const row = page.locator(`.sessions tbody tr:has([data-column="session"]:text-is("${session}"))`);
      await row.waitFor();
      return row.locator('[data-column="last used"], [data-column="lasted"]').allTextContents();
    };
    const [used = "", lasted] = await cellsOf("old");
    assert.match(used.replaceAll(/\s/g, " "), /\d(?: [AP]M)? – \d+ [AP]M$/);
    assert.equal(lasted, "up to 1 hr");
    assert.match((await page.textContent("main [role=status]")) ?? "", remark);
    if (since === "90d") assert.equal((await cellsOf("ancient"))[1], "");
  }
});
