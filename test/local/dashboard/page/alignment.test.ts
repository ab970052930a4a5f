/** What stands above, beside or beneath something has the same edge as that. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords } from "../../../helpers/client/dashboard.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;

/** Two models, of which the second has cost next to nothing. */
function records() {
  const start = aMinuteAgoToday();
  return [
    { model: "claude-sonnet-5", ttft_ms: null, tokens: tokens({ input_uncached: 654_321, output: 900_000 }) },
    { model: "claude-haiku-4-5", tokens: tokens({ input_uncached: 123, output: 900 }) },
  ].map((changes, at) =>
    usageRecord({
      ts: new Date(start + at).toISOString(),
      tool: "codex",
      upstream: "default",
      ...changes,
    }),
  );
}

test("on a phone, the names of two models begin where their figures do", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t, { viewport: { width: 390, height: 844 } });
  await page.goto(`${daemon.url}/#/overview?since=7d&by=model&compare=two`);
  await page.waitForSelector(".beside tbody tr");
  const edges = (selector: string) =>
    page.$$eval(selector, (all) =>
      all.map((one) => {
        const range = one.ownerDocument.createRange();
        range.selectNodeContents(one);
        const { left, top } = range.getBoundingClientRect();
        return { left: Math.round(left), top: Math.round(top) };
      }),
    );
  const [first, second, third] = await edges(".beside thead th");
  const [one, other] = await edges(".beside tbody tr:nth-child(2) td:not(.change)");
  assert.deepEqual([first?.left, second?.left], [one?.left, other?.left]);
  // What the second one has stands above both, as in each line.
  assert.ok((third?.top ?? 0) < (first?.top ?? 0), `${third?.top}, ${first?.top}`);
  assert.deepEqual(problems, []);
});

test("the figures of a record fill their row at every width, however many there are", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  for (const width of [1_440, 1_024, 390]) {
    const { page, problems } = await openChromium(t, { viewport: { width, height: 844 } });
    await page.goto(`${daemon.url}/#/requests`);
    for (const count of [3, 4]) {
      const model = count === 3 ? "claude-sonnet-5" : "claude-haiku-4-5";
      await page.click(`tbody tr:has-text("${model}") th button`);
      await page.waitForSelector("dialog[open] .glance .card");
      const { whole, ends } = await page.$eval("dialog .glance", (all) => ({
        whole: Math.round(all.getBoundingClientRect().right),
        ends: [...all.children].map((one) => Math.round(one.getBoundingClientRect().right)),
      }));
      assert.deepEqual([ends.length, ends.at(-1)], [count, whole], `at ${width}: ${ends.join()}`);
      await page.click("dialog .close");
    }
    assert.deepEqual(problems, []);
  }
});

test("a cost that is next to nothing beside the highest has no bar", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page } = await openChromium(t);
  await page.goto(`${daemon.url}/#/overview?since=7d&by=model`);
  await page.waitForSelector(".sums tbody tr");
  const bars = await page.$$eval('.sums tbody td[data-column="cost"]', (all) =>
    all.map((cell) => (cell.getAttribute("style") ?? "").includes("--share")),
  );
  assert.deepEqual(bars, [true, false]);
});
