import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords } from "../../../helpers/client/dashboard.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const VIEWS = ["requests", "live", "sessions", "overview"] as const;
/** The cells of each line, from left to right; `tokens out` only where there is room. */
const LINES = {
  requests: [
    ["tool", "model", "cost"],
    ["time", "project", "tokens in", "tokens out"],
  ],
  live: [
    ["tool", "model", "cost"],
    ["time", "project", "tokens in", "tokens out"],
  ],
  sessions: [
    ["project", "branch", "cost"],
    ["tool", "last used", "model", "failed"],
  ],
  overview: [
    ["tool", "cost"],
    ["requests", "tokens in", "tokens out"],
  ],
} as const;
const TABLE = ".two-lines:has(tbody tr)";
/** Without the heading of its day. */
const FIRST_ROW = "tbody tr:nth-child(1 of :not(.day))";

/** Two sessions of three requests, with names that a phone has no room for. */
function records() {
  const now = aMinuteAgoToday();
  return Array.from({ length: 6 }, (_, at) =>
    usageRecord({
      ts: new Date(now + at).toISOString(),
      tool: "claude-code",
      model: "claude-sonnet-5",
      model_requested: "claude-sonnet-5-of-a-very-long-name",
      upstream: "default",
      session: `session-${at % 2}`,
      project: `/home/me/src/${"a-long-name-".repeat(6)}${at % 2}`,
      branch: `feature/${"of-a-long-name-".repeat(3)}${at % 2}`,
      tokens: tokens({ input_uncached: 123_456 * (at + 1), output: 1_234 }),
    }),
  );
}

/** The names of the columns whose cells are seen in the first row, line by line. */
async function linesOf(page: Page): Promise<string[][]> {
  const cells = await page.$$eval(`${TABLE} ${FIRST_ROW} > *`, (all) =>
    all.map((cell) => {
      const { left, right, top, bottom } = cell.getBoundingClientRect();
      return { name: cell.getAttribute("data-column") ?? "", left, right, top, bottom };
    }),
  );
  const seen = cells
    .filter(({ left, right }) => right > left)
    .toSorted((one, other) => one.left - other.left);
  const end = Math.min(...seen.map(({ bottom }) => bottom));
  const lines = [seen.filter(({ top }) => top < end - 1), seen.filter(({ top }) => top >= end - 1)];
  return lines.map((line) => line.map(({ name }) => name));
}

for (const width of [320, 390])
  test(`a request and a session are two lines, ${width} pixels wide`, { skip: noBrowser }, async (t) => {
    const [older] = records();
    const failed = { outcome: "error", status: 529, tokens: null } as const;
    const failures = [0, 1].map((at) => ({
      ...older,
      ...failed,
      id: `failed-${at}`,
      session: `session-${at}`,
    }));
    const daemon = await startWithRecords(t, [...(failures as UsageRecord[]), ...records()]);
    const { page, problems } = await openChromium(t, { viewport: { width, height: 800 } });
    for (const view of VIEWS) {
      await page.goto("about:blank");
      await page.goto(`${daemon.url}/#/${view}?since=7d`);
      await page.waitForSelector(`${TABLE} tbody tr`);
      const hasRoom = width > 384 || view === "sessions" || view === "overview";
      const expected = LINES[view].map((line) => line.filter((name) => hasRoom || name !== "tokens out"));
      assert.deepEqual(await linesOf(page), expected, view);
      if (view === "overview") {
        const cost = await page.locator(`${TABLE} tbody [data-column="cost"]`).boundingBox();
        // A body has a rem at each side, and a table an edge and 0.8 rem.
        assert.equal(Math.round((cost?.x ?? 0) + (cost?.width ?? 0)), Math.round(width - 16 - 1 - 12.8));
      }
      // Nothing has to be moved sideways, and no row has a third line.
      const boxes = await page.$$eval(`${TABLE}, ${TABLE} tbody tr`, (all) =>
        all.map((one) => ({ height: one.tagName === "TR" ? one.clientHeight : 0, right: one.scrollWidth })),
      );
      for (const { height, right } of boxes)
        assert.ok(height < 70 && right <= width - 32, `${view}: ${right}`);
    }
    assert.deepEqual(problems, []);
  });

test("on a phone, what reads the page aloud still has tables with heads", { skip: noBrowser }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page } = await openChromium(t, { viewport: { width: 390, height: 800 } });
  const session = await page.context().newCDPSession(page);
  for (const view of VIEWS) {
    await page.goto("about:blank");
    await page.goto(`${daemon.url}/#/${view}?since=7d`);
    await page.waitForSelector(`${TABLE} tbody tr`);
    const { nodes } = await session.send("Accessibility.getFullAXTree");
    const named = (role: string) =>
      nodes.filter((node) => node.role?.value === role).map((node) => String(node.name?.value));
    assert.ok(named("table").length > 0, view);
    const heads = LINES[view].flat();
    const known = named("columnheader").map((name) => name.replace(" ↓", "").toLowerCase());
    assert.deepEqual(
      heads.filter((head) => !known.includes(head)),
      [],
      `${view}: ${known.join()}`,
    );
    assert.ok(named("rowheader").length >= 2 && named("cell").length >= 8, view);
  }
});

test("on a phone, heads beyond the edge fade, and the last one does not", { skip: noBrowser }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page } = await openChromium(t, { viewport: { width: 390, height: 800 } });
  for (const view of ["requests", "sessions", "overview", "sessions?session=session-1"]) {
    await page.goto("about:blank");
    await page.goto(`${daemon.url}/#/${view}${view.includes("?") ? "&" : "?"}since=7d`);
    await page.waitForSelector(`${TABLE} tbody tr`);
    const rows = await page.$$eval(`${TABLE} thead tr`, (all) =>
      all.map((row) => {
        const mask = row.ownerDocument.defaultView?.getComputedStyle(row).maskImage ?? "";
        row.scrollLeft = row.scrollWidth;
        const right = Math.max(...[...row.children].map((head) => head.getBoundingClientRect().right));
        return { mask, free: row.getBoundingClientRect().right - right };
      }),
    );
    // As wide as what fades.
    for (const { mask, free } of rows)
      assert.ok(mask.includes("32px") && free >= 31, `${view}: ${mask}, ${free}`);
  }
});

test("on a phone, a tap on a head sorts the requests", { skip: noBrowser }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page } = await openChromium(t, { viewport: { width: 390, height: 800 }, hasTouch: true });
  await page.goto(`${daemon.url}/#/requests?since=7d`);
  const first = page.locator(`${TABLE} ${FIRST_ROW} [data-column="tokens in"]`);
  await first.waitFor();
  const head = page.locator('th button:text-is("tokens in")');
  await head.tap();
  assert.equal(await first.textContent(), "740,736");
  await head.tap();
  assert.equal(await first.textContent(), "123,456");
});

test(
  "in a narrow window, a row of each list fits with its cost and its note",
  { skip: noBrowser },
  async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page, problems } = await openChromium(t, { viewport: { width: 1_024, height: 800 } });
    for (const [view, columns] of [
      ["requests", ["cost", "note"]],
      ["live", ["cost", "note"]],
      ["sessions", ["cost", "last used"]],
      ["sessions?session=session-1", ["cost", "note", "from cache"]],
    ] as const) {
      await page.goto("about:blank");
      await page.goto(`${daemon.url}/#/${view}${view.includes("?") ? "&" : "?"}since=7d`);
      await page.waitForSelector(`${TABLE} tbody tr`);
      const place = page.locator(":is(.table, .scroll):has(.two-lines tbody tr)").last();
      const widths = await place.evaluate((box) => [box.scrollWidth, box.clientWidth]);
      assert.equal(widths[0], widths[1], view);
      for (const column of columns)
        assert.ok(await place.locator(`tbody [data-column="${column}"]`).first().isVisible(), column);
    }
    assert.deepEqual(problems, []);
  },
);
