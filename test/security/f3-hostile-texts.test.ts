// F3, hostile texts: what tools and upstreams name themselves is text in every view, and neither runs, nor hides, nor displaces others.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { noBrowser } from "../helpers/client/browser.ts";
import { openChromium } from "../helpers/client/chromium.ts";
import { startWithRecords } from "../helpers/client/dashboard.ts";
import { aMinuteAgoToday } from "../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../helpers/ledger/usage-record.ts";

const HOSTILE: Readonly<Record<string, string>> = {
  markup: `<img src=x onerror="document.title='run'"><script>document.title='run'</script>"'>`,
  "bidirectional marks": "\u202eedoc-edualc\u2066\u2067",
  "control characters": "a\u0007\u001b[31m\u009b2Jb\r\nc",
  "64 KB": "x".repeat(65_536),
  "a name of every object": "__proto__",
  "a template": "{{constructor.constructor('document.title=1')()}}${document.title=1}",
};

/** Pixels. */
const ROW_HEIGHT = 60;
const CELL_WIDTH = 700;

/** Fails where a text has run, has become an element, or has made a page or a row larger than others. */
async function assertHarmless(page: Page, where: string): Promise<void> {
  assert.equal(await page.title(), "tollkeeper", where);
  assert.equal(await page.locator("main img, main script, main iframe").count(), 0, where);
  const isTooWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  assert.equal(isTooWide, false, `${where}: the page is too wide`);
  const heights = await page.$$eval("main tbody tr", (rows) =>
    rows.map((row) => row.getBoundingClientRect().height),
  );
  // The heading of a day is as wide as its table.
  const widths = await page.$$eval("main td, main th:not([scope=rowgroup])", (cells) =>
    cells.map((cell) => cell.getBoundingClientRect().width),
  );
  assert.ok(Math.max(0, ...widths) < CELL_WIDTH, `${where}: cells of ${Math.max(...widths)} pixels`);
  // A narrow cell may still let its text run over the cells beside it.
  const spilling = await page.$$eval("main td, main th", (cells) =>
    cells
      .filter(
        (cell) =>
          cell.computedStyleMap().get("overflow-x")?.toString() === "visible" &&
          cell.scrollWidth > cell.clientWidth,
      )
      .map((cell) => (cell.textContent ?? "").slice(0, 20)),
  );
  assert.deepEqual(spilling, [], `${where}: texts run over other cells`);
  assert.ok(
    heights.every((height) => height < ROW_HEIGHT),
    `${where}: rows of ${Math.max(...heights)} pixels`,
  );
}

/** A record whose every text is this one, and one of a session that can be found. */
function recordsWith(text: string, at: number) {
  const record = usageRecord({
    ts: new Date(aMinuteAgoToday() + at).toISOString(),
    tool: text,
    model: text,
    model_requested: text,
    session: text,
    project: text,
    branch: text,
    key: text,
    user_agent: text,
    error_type: text,
    upstream: "default",
    tokens: tokens({ input_uncached: 10 }),
  });
  return [record, { ...record, id: `another-${at}`, tool: "codex", session: "plain" }];
}

test(`${Object.keys(HOSTILE).join(", ")} in names are text in every view`, { skip: noBrowser }, async (t) => {
  const daemon = await startWithRecords(t, Object.values(HOSTILE).flatMap(recordsWith));
  const { page, problems } = await openChromium(t);
  for (const by of ["tool", "model", "project", "branch", "key", "session"]) {
    await page.goto(`${daemon.url}/#/overview?since=7d&by=${by}`);
    await page.waitForSelector(`caption:text-is("Usage by ${by}")`);
    await assertHarmless(page, by);
  }
  await page.locator(".table tbody button.link").first().click();
  await page.waitForSelector("button.filter");
  await assertHarmless(page, "a filter");
  await page.goto(`${daemon.url}/#/sessions?since=7d`);
  await page.waitForSelector('caption:text-is("Sessions")');
  await assertHarmless(page, "sessions");
  await page.locator(".table tbody th button.link").first().click();
  await page.waitForSelector('caption:text-is("Requests of this session")');
  await assertHarmless(page, "a session");
  await page.goto(`${daemon.url}/#/requests?since=7d`);
  await page.waitForSelector('caption:text-is("Requests")');
  await assertHarmless(page, "requests");
  await page.goto(`${daemon.url}/#/live`);
  await page.waitForSelector(".live tbody tr");
  await assertHarmless(page, "live");
  // Another program may have asked at this port, which leaves a refusal.
  const rows = page.locator('.live tbody tr:not(:has(td[title^="refused: "])):has(button.link)');
  const buttons = rows.locator("button.link");
  const texts = await rows.allTextContents();
  const shown = texts.map((text) => text.slice(0, 80)).join("\n");
  assert.equal(await buttons.count(), 2 * Object.keys(HOSTILE).length, shown);
  for (const button of await buttons.all()) {
    await button.click();
    await page.waitForSelector("dialog[open]");
    await assertHarmless(page, "a record");
    const { width } = (await page.locator("dialog").boundingBox()) ?? { width: 0 };
    assert.ok(width > 0 && width <= 1_280);
    await page.keyboard.press("Escape");
  }
  await page.goto(`${daemon.url}/#/health`);
  await page.waitForSelector(".part");
  await assertHarmless(page, "health");
  assert.deepEqual(problems, []);
});
