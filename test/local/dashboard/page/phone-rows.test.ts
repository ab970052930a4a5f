import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords } from "../../../helpers/client/dashboard.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const SESSION = "sessions?since=7d&session=session-1";
const TWO_DAYS_MS = 2 * 24 * 60 * 60 * 1_000;

/** Requests of a session two days ago, whose title has the day: one of each end, and one that missed the cache. */
function records() {
  const start = aMinuteAgoToday() - TWO_DAYS_MS;
  const used = { tokens: tokens({ input_uncached: 123_456, output: 12_345 }) };
  const missed = { miss: "tools_changed", miss_tokens: 4_000 } as const;
  return [
    { outcome: "completed", ...used },
    { outcome: "completed", ...used, ...missed },
    { outcome: "cut", cut_by: "client", usage: "partial", ...used },
    { outcome: "error", status: 529, error_type: "overloaded_error", tokens: null, usage: "absent" },
    { outcome: "rejected", status: 429, error_type: "budget_spent", tokens: null, usage: "absent" },
  ].map((changes, at) =>
    usageRecord({
      ts: new Date(start + at).toISOString(),
      tool: "claude-code",
      model: "claude-sonnet-5",
      upstream: "default",
      session: "session-1",
      agent: "0123456789",
      agent_kind: "main",
      ...(changes as Parameters<typeof usageRecord>[0]),
    }),
  );
}

/** The rows of requests: how high each is, its lines from top to bottom, and the cells that are narrower than their longest word. */
async function rowsOf(page: Page) {
  const rows = page.locator(".two-lines tbody tr:not(.day)");
  await rows.first().waitFor();
  return rows.evaluateAll((all) =>
    all.map((row) => {
      const cells = [...row.children]
        .filter((cell) => cell.getClientRects().length > 0)
        .toSorted((one, other) => one.getBoundingClientRect().left - other.getBoundingClientRect().left);
      const view = row.ownerDocument.defaultView;
      const lines = new Map<number, string[]>();
      const narrow: string[] = [];
      for (const cell of cells) {
        const { bottom, right } = cell.getBoundingClientRect();
        const added = ["::before", "::after"].map((part) =>
          (view?.getComputedStyle(cell, part).content ?? "").replace(/^"|"$|^none$/g, ""),
        );
        const text = added.join(cell.textContent ?? "");
        const at = [...lines.keys()].find((one) => Math.abs(one - bottom) < 6) ?? bottom;
        lines.set(at, [...(lines.get(at) ?? []), text]);
        // No word is cut, broken or out of sight.
        if (cell.scrollWidth > cell.clientWidth || right > (view?.innerWidth ?? 0)) narrow.push(text);
        if (view?.getComputedStyle(cell).overflowWrap !== "normal") narrow.push(`${text} is broken`);
      }
      const inOrder = [...lines].toSorted(([one], [other]) => one - other).map(([, line]) => line);
      return { height: row.clientHeight, lines: inOrder, narrow };
    }),
  );
}

test("on a phone, requests of earlier days keep their words whole", { skip: noBrowser }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t, { viewport: { width: 390, height: 800 } });
  for (const query of ["requests?since=7d", "requests?since=7d&sort=cost", SESSION]) {
    await page.goto("about:blank");
    await page.goto(`${daemon.url}/#/${query}`);
    const rows = await rowsOf(page);
    assert.equal(rows.length, 5, query);
    for (const { height, narrow, lines } of rows) {
      assert.deepEqual(narrow, [], query);
      const text = lines.flat().join();
      assert.ok(!text.includes("completed"), text);
      // Why a request stands out may take a line more, and why it missed the cache two.
      const most = /cut short|missed|#4|#5/.test(text) ? 100 : 70;
      assert.ok(height < most, `${query}: ${height}: ${text}`);
    }
  }
  assert.deepEqual(problems, []);
});

test(
  "on a phone, a request of a session has its cost, then its tokens, then why it stands out",
  { skip: noBrowser },
  async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page } = await openChromium(t, { viewport: { width: 390, height: 800 } });
    await page.goto(`${daemon.url}/#/${SESSION}`);
    const rows = await rowsOf(page);
    const lines = rows.map((row) =>
      row.lines.map((line) => line.join(" ").replace(/[A-Z][a-z]{2} \d+, \d.* [AP]M/, "TIME")),
    );
    assert.deepEqual(lines, [
      ["#5 main –", "TIME", "refused: budget spent"],
      ["#4 main –", "TIME", "overloaded (529)"],
      ["#3 main ≥$0.370", "TIME ≥123,456 in ≥12,345 out", "cut short by the tool"],
      ["#2 main $0.370", "TIME 123,456 in 12,345 out", "missed the cache: the tools changed, +$0.00720"],
      ["#1 main $0.370", "TIME 123,456 in 12,345 out"],
    ]);
    // The title has the day.
    assert.equal(await page.locator(".of-session tbody .date").first().isVisible(), false);
    // Costs and tokens end at the right edge: a body has a rem at each side, and a table an edge and 0.8 rem.
    for (const column of ["cost", "tokens out"]) {
      const box = await page
        .locator(`.of-session tbody tr:last-child [data-column="${column}"]`)
        .boundingBox();
      assert.equal(Math.round((box?.x ?? 0) + (box?.width ?? 0)), Math.round(390 - 16 - 1 - 12.8), column);
    }
  },
);
