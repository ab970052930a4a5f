import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { EVIL, startWithRecords } from "../../../helpers/client/dashboard.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const ROWS = ".table tbody tr:not(.day)";

function used(input: number) {
  const all = tokens({ input_uncached: input, output: 500 });
  return { tokens: all, ttft_ms: 1_000, duration_ms: 6_000 };
}

/** Requests of two tools that ended in each way, the dearest in the middle. */
function records() {
  const now = aMinuteAgoToday();
  const shared = { model: "claude-sonnet-5", upstream: "default", project: "/home/me/src/shop" };
  return [
    { tool: "codex", outcome: "completed", ...used(1_000) },
    { tool: "codex", outcome: "completed", ...used(9_000) },
    { tool: "zed", outcome: "cut", usage: "partial", ...used(3_000) },
    { tool: "zed", outcome: "failed", status: 529, usage: "absent", tokens: null, model: EVIL },
    {
      tool: "zed",
      outcome: "rejected",
      status: 402,
      error_type: "budget_spent",
      usage: "none",
      tokens: null,
    },
  ].map((one, at) =>
    usageRecord({ ...shared, ...(one as object), ts: new Date(now + at).toISOString(), id: `the-${at}` }),
  );
}

test(
  "a request is found by how it ended, by what it cost and by a name in its row, and opens",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page, problems } = await openChromium(t);
    await page.goto(`${daemon.url}/#/requests?since=7d`);
    await page.waitForSelector(ROWS);
    const cells = (column: string) => page.locator(`${ROWS} [data-column="${column}"]`).allTextContents();
    assert.deepEqual(await cells("tool"), ["zed", "zed", "zed", "codex", "codex"], "the newest first");
    assert.ok((await cells("model"))[1]?.startsWith("<img src=x onerror=alert(1)>"));
    assert.deepEqual((await cells("tokens in")).slice(2), ["≥3,000", "9,000", "1,000"]);
    // 500 tokens in the five seconds after the first one; that which was cut short has no final count.
    assert.deepEqual((await cells("tokens/s")).slice(2), ["", "100", "100"]);
    // What completed needs no word.
    assert.deepEqual((await cells("note")).slice(3), ["", ""]);
    assert.equal(
      await page.textContent("main .remark"),
      "In this period: 5 requests (2 completed, 1 cut short, 1 failed, 1 refused), ≥$0.0410",
    );
    await page.click('th button:text-is("cost")');
    assert.deepEqual((await cells("tokens in"))[0], "9,000");
    for (const [outcome, end] of [
      ["failed", "failed (529)"],
      ["cut", "cut short by the connection"],
      ["refused", "refused: budget spent"],
    ] as const) {
      await page.selectOption('label:has-text("Outcome") select', outcome);
      await page.waitForSelector(`caption:text-is("Requests: ${outcome}")`);
      assert.deepEqual(await cells("note"), [end]);
      // What failed or was refused has no tokens, so it has no columns for them.
      const heads = await page.locator(".requests thead th").allTextContents();
      const ofTokens = heads.filter((head) => /^(?:tokens|from cache)/.test(head));
      assert.deepEqual(ofTokens.length > 0, outcome === "cut", heads.join());
    }
    await page.locator(`${ROWS} th button`).click();
    assert.match(
      (await page.textContent("dialog")) ?? "",
      /tollkeeper refused the request, because a budget was spent, or reserved for running requests\. Nothing was charged\./,
    );
    await page.keyboard.press("Escape");
    await page.selectOption('label:has-text("Outcome") select', "all");
    await page.click(`${ROWS} button:text-is("codex")`);
    await page.waitForSelector('button.filter:has-text("tool: codex")');
    await page.waitForSelector('main[aria-busy="false"]');
    assert.deepEqual(await cells("tool"), ["codex", "codex"]);
    // The other views keep the filter: from a tool to its requests is one click.
    await page.click('nav a:text-is("overview")');
    await page.waitForSelector('button.filter:has-text("tool: codex")');
    assert.deepEqual(problems, []);
  },
);

test(
  "the overview says how its requests ended, and links to those that did not complete",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page, problems } = await openChromium(t);
    const figure = page.locator('.glance .card:has(h2:text-is("Requests"))');
    for (const [words, outcome, end] of [
      ["1 failed", "failed", "failed (529)"],
      ["1 cut short", "cut", "cut short by the connection"],
      ["1 refused", "refused", "refused: budget spent"],
    ] as const) {
      await page.goto(`${daemon.url}/#/overview?since=7d&tool=zed`);
      await figure.waitFor();
      assert.equal(await figure.locator("strong").textContent(), "3");
      assert.equal(await figure.locator("small").first().textContent(), "1 cut short, 1 failed, 1 refused");
      await figure.locator(`a:text-is("${words}")`).click();
      await page.waitForSelector(`caption:text-is("Requests: ${outcome}")`);
      assert.equal(await page.locator(`${ROWS} .verdict`).textContent(), end);
      await page.waitForSelector('button.filter:has-text("tool: zed")');
    }
    assert.deepEqual(problems, []);
  },
);

for (const width of [390, 1_440])
  test(`a record shows its cost and fits its dialog, ${width} pixels wide`, { skip }, async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page } = await openChromium(t, { viewport: { width, height: 900 } });
    await page.goto(`${daemon.url}/#/live`);
    await page.locator('table:has(caption:text-is("Ended")) tr:has-text("codex") button').first().click();
    const amount = page.locator("dialog tfoot td").last();
    await amount.waitFor();
    assert.match((await amount.textContent()) ?? "", /^\$0\.0\d+$/);
    const [dialog, shown] = [await page.locator("dialog").boundingBox(), await amount.boundingBox()];
    assert.ok(dialog && shown && shown.x >= dialog.x && shown.x + shown.width <= dialog.x + dialog.width);
    assert.equal(
      await page.evaluate("document.querySelector('dialog').scrollWidth"),
      await page.evaluate("document.querySelector('dialog').clientWidth"),
    );
  });

test(
  "of more requests than are listed, the last ones, the dearest or the failed ones are",
  { skip },
  async (t) => {
    const now = aMinuteAgoToday();
    // The first ones are the dearest, and would be left out of the last ones. The second failed.
    const many = Array.from({ length: 1_010 }, (_, at) =>
      usageRecord({
        ts: new Date(now + at).toISOString(),
        model: "claude-sonnet-5",
        upstream: "default",
        ...(at === 1
          ? { outcome: "error", status: 529, usage: "none", tokens: null }
          : { tokens: tokens({ output: 2_000 - at }) }),
      }),
    );
    const daemon = await startWithRecords(t, many);
    const { page, problems } = await openChromium(t);
    await page.goto(`${daemon.url}/#/requests?since=7d`);
    await page.waitForSelector('caption:text-is("Requests, the last 1,000 of this period")');
    const first = page.locator(`${ROWS} [data-column="tokens out"]`).first();
    assert.equal(await first.textContent(), "991");
    await page.click('th button:text-is("cost")');
    await page.waitForSelector('caption:text-is("Requests, the dearest 1,000 of this period")');
    assert.equal(await first.textContent(), "2,000");
    await page.goBack();
    await page.waitForSelector('caption:text-is("Requests, the last 1,000 of this period")');
    await page.selectOption('label:has-text("Outcome") select', "failed");
    await page.waitForSelector('caption:text-is("Requests: failed")');
    assert.equal(await page.locator(`${ROWS}:not(.day)`).count(), 1);
    assert.deepEqual(problems, []);
  },
);
