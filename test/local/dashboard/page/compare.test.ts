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
  "models are compared with the period before: those that changed most come first, and those that are gone stay",
  { skip },
  async (t) => {
    const early = new Date(aMinuteAgoToday() - 40 * DAY_MS).toISOString();
    const daemon = await startWithRecords(t, [usageRecord({ ts: early }), ...records()]);
    const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
    await page.goto(`${daemon.url}/#/overview?since=7d&by=model`);
    await page.selectOption('label:has-text("Compare") select', "before");
    await page.waitForSelector('caption:text-is("Cost by model, beside the 7 days before")');
    const rows = await page.$$eval(".beside :is(tbody, tfoot) tr", (all) =>
      all.map((row) => [...row.children].slice(0, 5).map((cell) => cell.textContent)),
    );
    assert.deepEqual(rows, [
      ["claude-sonnet-5", "+$3.00", "+300%", "$4.00", "$1.00"],
      ["claude-haiku-4-5", "−$1.00", "−100%", "–", "$1.00"],
      // What has no difference is last, however the rows are sorted.
      ["house-model", "", "", "unpriced", "–"],
      ["total", "≥+$2.00", "+100%", "≥$4.00", "$2.00"],
    ]);
    assert.deepEqual(await page.locator(".period > *").allTextContents(), [
      "Last 7 days",
      "≥+$2.00",
      "about twice as much as the 7 days before",
      "≥$4.00, before $2.00. Changed most: claude-sonnet-5 +$3.00, claude-haiku-4-5 −$1.00",
    ]);
    assert.equal(
      await page.textContent(".why"),
      "≥ means at least: not all prices are known of house-model.",
    );
    assert.match(page.url(), /compare=before/);
    const chosen = await page.locator('label:has-text("Compare") option').allTextContents();
    assert.deepEqual(chosen, ["totals", "each model", "two models"]);
    // A name has its colour in the chart, and narrows the view.
    assert.equal(await page.locator(".beside tbody th .mark").count(), 3);
    await page.locator('.beside tbody button:text-is("house-model")').waitFor();
    await page.click('.beside thead button:text-is("difference")');
    assert.deepEqual(await page.locator(".beside tbody th").allTextContents(), [
      "claude-haiku-4-5",
      "claude-sonnet-5",
      "house-model",
    ]);
    // One of no price is no zero.
    assert.ok((await page.locator(".legend li").allTextContents()).includes("house-modelunpriced"));
    assert.deepEqual(problems, []);
  },
);

test(
  "what shrank most comes before what grew less, with bars to both sides of one line, at every width",
  { skip },
  async (t) => {
    const now = aMinuteAgoToday();
    const changed = [
      { model: "claude-sonnet-5", before: 10, output: 90_000_000 },
      { model: "claude-haiku-4-5", before: 0, output: 3_900_000 },
      { model: "claude-sonnet-5", before: 0, output: 1_000_000 },
    ].map(({ model, before, output }, at) =>
      usageRecord({
        ts: new Date(now - before * DAY_MS + at).toISOString(),
        model,
        upstream: "default",
        tokens: tokens({ output }),
      }),
    );
    // Recording began before both periods.
    const first = usageRecord({ ts: new Date(now - 40 * DAY_MS).toISOString(), model: "claude-sonnet-5" });
    const daemon = await startWithRecords(t, [first, ...changed]);
    for (const width of [320, 390, 1_440]) {
      const { page, problems } = await openChromium(t, {
        timezoneId: "UTC",
        viewport: { width, height: 900 },
      });
      await page.goto(`${daemon.url}/#/overview?since=7d&by=model&compare=before`);
      await page.waitForSelector(".beside tbody .middle");
      assert.deepEqual(await page.locator(".beside tbody th").allTextContents(), [
        "claude-sonnet-5",
        "claude-haiku-4-5",
      ]);
      const bars = await page.$$eval(".beside tbody .middle", (all) =>
        all.map((one) => {
          const [line, bar] = [one, one.firstElementChild ?? one].map((part) => part.getBoundingClientRect());
          const middle = ((line?.left ?? 0) + (line?.right ?? 0)) / 2;
          return { middle, left: (bar?.left ?? 0) - middle, right: (bar?.right ?? 0) - middle };
        }),
      );
      const [less, more] = bars;
      assert.ok(less !== undefined && more !== undefined);
      assert.ok(Math.abs(less.middle - more.middle) < 0.6, `${width}: ${less.middle}, ${more.middle}`);
      assert.ok(less.left < -10 && Math.abs(less.right) < 1, `${width}: ${less.left} to ${less.right}`);
      assert.ok(more.right > 0 && Math.abs(more.left) < 1, `${width}: ${more.left} to ${more.right}`);
      // Each figure is in one line, and none is cut.
      const broken = await page.$$eval(".period .figure, .beside td", (all) =>
        all.flatMap((one) => {
          const isBroken = one.matches(".figure")
            ? one.getClientRects().length > 1
            : one.scrollWidth > one.clientWidth + 1;
          return isBroken ? [one.textContent] : [];
        }),
      );
      assert.deepEqual(broken, [], `at ${width}`);
      // The differences end at one line, that of the total, too.
      const ends = await page.$$eval('.beside :is(tbody .swing, tfoot [data-column="difference"])', (all) =>
        all.map((one) => {
          const range = one.ownerDocument.createRange();
          range.selectNodeContents(one.lastChild ?? one);
          return Math.round(range.getBoundingClientRect().right);
        }),
      );
      assert.equal(new Set(ends).size, 1, `${width}: ${ends.join(", ")}`);
      assert.deepEqual(problems, []);
    }
  },
);

test("beside a period in whose days recording began there is no percentage", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page } = await openChromium(t, { timezoneId: "UTC" });
  await page.goto(`${daemon.url}/#/overview?since=7d&by=model&compare=before`);
  await page.waitForSelector(".beside tbody tr");
  assert.match(
    (await page.textContent(".period .finding")) ?? "",
    /^beside the 7 days before, recorded since /,
  );
  assert.deepEqual(
    new Set(await page.locator('.beside [data-column="change"]:is(td)').allTextContents()),
    new Set([""]),
  );
});

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
  // What a request has comes first, then the sums. Each difference says its direction.
  assert.deepEqual(rows, [
    ["Per request"],
    ["Cost", "$1.67", "$1.00", "40% less"],
    ["First token (median)", "0.2 s", "0.2 s", "as long"],
    ["Tokens in", "0", "0", ""],
    ["Tokens out", "166,667", "200,000", "20% more"],
    ["From cache", "–", "–", ""],
    ["Failed", "0 (0%)", "0 (0%)", "as much"],
    ["In all"],
    ["Cost", "$5.00", "$1.00", "80% less"],
    ["Requests", "3", "1", "a third as many"],
    ["Tokens in", "0", "0", ""],
    ["Tokens out", "500,000", "200,000", "60% less"],
    ["Certainty", "all counted", "all counted", ""],
  ]);
  const heads = await page.locator(".beside thead th").allTextContents();
  assert.deepEqual(heads, ["claude-sonnet-5", "claude-haiku-4-5", "claude-haiku-4-5 has"]);
  // Of four requests there is no verdict.
  assert.equal(await page.locator(".verdict-of-two").count(), 0);
  // All figures are of the two.
  assert.equal(await page.locator(".glance, .period").count(), 0);
  assert.deepEqual(await page.locator(".legend li").allTextContents(), [
    "claude-sonnet-5$5.00",
    "claude-haiku-4-5$1.00",
  ]);
  await page.selectOption('.beside label:has-text("with") select', "house-model");
  await page.waitForSelector('caption:text-is("claude-sonnet-5 and house-model")');
  assert.match(page.url(), /one=claude-sonnet-5&other=house-model/);
  // Nothing is known of what one cost, so that there is no difference.
  assert.deepEqual(
    await page.$$eval(".beside tbody tr", (all) =>
      all.map((row) => [...row.children].map((cell) => cell.textContent)).filter(([what]) => what === "Cost"),
    ),
    [
      ["Cost", "$1.67", "unpriced", ""],
      ["Cost", "$5.00", "unpriced", ""],
    ],
  );
  assert.deepEqual(problems, []);
});

test(
  "of two models a sentence says what a request costs and how soon it is answered, and bars are as long as the figures",
  { skip },
  async (t) => {
    const now = aMinuteAgoToday();
    const models = [
      { model: "claude-sonnet-5", output: 2_000, ttft: 1_200 },
      { model: "claude-haiku-4-5", output: 2_000, ttft: 600 },
    ];
    const daemon = await startWithRecords(
      t,
      models.flatMap(({ model, output, ttft }) =>
        Array.from({ length: 20 }, (_, at) =>
          usageRecord({
            ts: new Date(now - at * 1_000).toISOString(),
            model,
            upstream: "default",
            tokens: tokens({ output }),
            stream: true,
            ttft_ms: ttft,
            duration_ms: 9_000,
          }),
        ),
      ),
    );
    for (const width of [390, 1_440]) {
      const { page, problems } = await openChromium(t, {
        timezoneId: "UTC",
        viewport: { width, height: 900 },
      });
      await page.goto(
        `${daemon.url}/#/overview?since=30d&by=model&compare=two&one=claude-sonnet-5&other=claude-haiku-4-5`,
      );
      assert.equal(
        await page.textContent(".verdict-of-two"),
        "claude-haiku-4-5 costs half as much per request as claude-sonnet-5, and its first token takes half as long.",
      );
      const row = page.locator('.beside tbody tr:has(th:text-is("First token (median)"))');
      const [long = 0, short = 0] = await row
        .locator(".size")
        .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
      assert.ok(short > 0 && Math.abs(short / long - 0.5) < 0.1, `${short} of ${long} at ${width}`);
      // The sentence and the figures come before the chart.
      const tops = await page.$$eval(".verdict-of-two, .two .scroll, .two .chart", (all) =>
        all.map((one) => one.getBoundingClientRect().top),
      );
      assert.deepEqual(
        tops,
        tops.toSorted((one, other) => one - other),
      );
      assert.deepEqual(problems, []);
    }
  },
);

test("bars of two models stand beside each other, and no choice is cut on a phone", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  for (const width of [320, 390, 1_440]) {
    const { page } = await openChromium(t, { timezoneId: "UTC", viewport: { width, height: 900 } });
    for (const compare of ["two", "before"]) {
      await page.goto("about:blank");
      await page.goto(`${daemon.url}/#/overview?since=30d&by=model&compare=${compare}`);
      await page.waitForSelector(".beside tbody tr");
      await page.waitForSelector(".chart svg");
      if (compare === "two") {
        const boxes = await page.$$eval(".chart .bars:not(.unfinished)", (all) =>
          all
            .map((bars) => bars.getBoundingClientRect())
            .map(({ left, right, bottom }) => ({ left, right, bottom })),
        );
        const [one, other] = boxes;
        // Of the same day.
        assert.ok(one !== undefined && other !== undefined && one.right <= other.left + 1, `${width}`);
        assert.equal(Math.round(one.bottom), Math.round(other.bottom));
      }
      // A list as wide as its own words, beside that which has them.
      const cut = await page.$$eval("main select", (all) =>
        all.flatMap((list) => {
          const free = list.cloneNode(true) as typeof list;
          free.style.cssText = "position: absolute; width: max-content; max-width: none";
          list.after(free);
          const isCut = free.offsetWidth > list.offsetWidth;
          free.remove();
          return isCut ? [list.textContent] : [];
        }),
      );
      assert.deepEqual(cut, [], `${compare} at ${width}`);
    }
  }
});
