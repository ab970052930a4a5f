import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Page } from "playwright-core";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import {
  failedOf,
  costOf,
  expectedGlance,
  expectedReason,
  expectedTable,
  readGlance,
  readRows,
  readTable,
  startWithRecords,
  writeRecords,
} from "../../../helpers/client/dashboard.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Noon, UTC, so many days ago. */
function noonBefore(days: number): string {
  return `${new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)}T12:00:00.000Z`;
}

const LEDGER = fc.array(
  fc.record({
    daysAgo: fc.integer({ min: 1, max: 20 }),
    tool: fc.constantFrom("codex", "claude-code", "zed"),
    model: fc.constantFrom("claude-sonnet-5", "claude-haiku-4-5", "<b>bold</b>", null),
    upstream: fc.constantFrom("default", "gone", "plan:claude", "extra:claude"),
    input: fc.nat(5_000_000),
    cached: fc.nat(5_000_000),
    output: fc.nat(100_000),
    usage: fc.constantFrom("final", "final", "partial", "absent"),
    outcome: fc.constantFrom("completed", "completed", "cut", "error", "rejected"),
  }),
  { minLength: 1, maxLength: 40 },
);

function toRecord(given: typeof LEDGER extends fc.Arbitrary<(infer One)[]> ? One : never): UsageRecord {
  const { daysAgo, tool, model, upstream, input, cached, output, usage, outcome } = given;
  const used = tokens({ input_uncached: input, cache_read: cached, output });
  return usageRecord({
    ts: noonBefore(daysAgo),
    tool,
    model,
    model_requested: model,
    upstream,
    outcome,
    ...(outcome === "rejected"
      ? { usage: "absent", tokens: null, status: 403, error_type: "model_not_allowed" }
      : { usage, tokens: usage === "absent" ? null : used }),
    session: `session-${daysAgo}`,
  });
}

type Figures = Record<string, unknown>;

function rowsOf(usage: string): Figures[] {
  return (JSON.parse(usage) as { rows: Figures[] }).rows;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** Only nothing is `0%`, and only all is `100%`. */
function shareOf(part: number, whole: number): string {
  if (whole === 0) return "";
  const percent = Math.round((100 * part) / whole);
  if (percent === 0 && part > 0) return "<1%";
  return percent === 100 && part < whole ? ">99%" : `${percent}%`;
}

/** What the list of sessions says of one, without its project and its times. */
function sessionCells(row: Figures, hasWorth: boolean): string {
  const of = (name: string) => Number(row[name]);
  const input = of("input_uncached") + of("cache_read") + of("cache_write");
  return [
    row["tool"],
    row["cost_usd"],
    ...(hasWorth ? [row["plan_worth_usd"]] : []),
    count(of("requests") + of("failed")),
    count(input),
    shareOf(of("cache_read"), input),
    count(of("output")),
    failedOf(row) === 0 ? "" : count(failedOf(row)),
    row["session"],
  ].join();
}

/** What the live view says of a record: `≥` where a response was cut off before its last count. */
function liveCells(record: UsageRecord): string {
  const { tool, model, model_requested: requested, project, tokens: used, usage } = record;
  const mark = usage === "partial" ? "≥" : "";
  const figures =
    used === null
      ? ["", "", ""]
      : [
          `${mark}${count(used.input_total)}`,
          shareOf(used.cache_read, used.input_total),
          `${mark}${count(used.output)}`,
        ];
  return [tool, model ?? requested ?? "", project ?? "", ...figures].join();
}

/** Points at the first bar of a chart of days, and compares what the legend says then. */
async function assertChart(page: Page, usage: string, by: string, days: number): Promise<void> {
  const area = page.locator(".chart .area");
  await area.scrollIntoViewIfNeeded();
  const box = await area.boundingBox();
  assert.ok(box !== null);
  // A bar takes a day, and there is room for a tenth of one at each end.
  await page.mouse.move(box.x + (box.width * 0.6) / (days + 0.2), box.y + box.height / 2);
  // The title says what it is about elsewhere.
  await page.waitForSelector('.chart .title:has-text("202")');
  const shown = await page.$$eval(".legend li:not(.before)", (items) =>
    items.map((item) =>
      [...item.children]
        .slice(1)
        .map((part) => part.textContent)
        .join(),
    ),
  );
  const first = rowsOf(usage)
    .map((row) => String(row["day"]))
    .toSorted()[0];
  const known = new Map(
    rowsOf(usage)
      .filter((row) => row["day"] === first)
      .map((row) => [(row[by] as string | null) ?? `(no ${by})`, costOf(row)]),
  );
  for (const one of shown) {
    const [name = "", value] = one.split(",", 2);
    if (name !== "others") assert.equal(value, known.get(name) ?? "$0.00", `${name} of ${first}`);
  }
  await page.mouse.move(0, 0);
}

const QUESTION = fc.record({
  by: fc.constantFrom("tool", "model", "session", "upstream", "account"),
  since: fc.integer({ min: 10, max: 20 }),
  // At least three days: shorter periods are drawn by the hour.
  until: fc.integer({ min: 1, max: 8 }),
  filter: fc.constantFrom({}, {}, { tool: "codex" }, { upstream: "gone" }, { model: "claude-*" }),
});

test(
  "the page shows the figures of usage --json, whatever the ledger, the days, the grouping and the filter",
  { skip },
  async (t) => {
    // A record on each day, so that each is replaced with the next ledger, and no question is without an answer.
    const always = Array.from({ length: 20 }, (_, at) =>
      usageRecord({ ts: noonBefore(at + 1), upstream: "gone", model: "claude-sonnet-5" }),
    );
    const daemon = await startWithRecords(t, always);
    const { page, problems } = await openChromium(t);
    const property = fc.asyncProperty(LEDGER, QUESTION, async (ledger, question) => {
      writeRecords(daemon, [...always, ...ledger.map(toRecord)]);
      const { by, filter } = question;
      const days = {
        since: noonBefore(question.since).slice(0, 10),
        until: noonBefore(question.until).slice(0, 10),
      };
      const usage = async (asked: Readonly<Record<string, string>>) => {
        const words = Object.entries(asked).map(([name, value]) => `--${name}=${value}`);
        return (await daemon.command("usage", "--json", ...words)).stdout;
      };
      const stdout = await usage({ by, ...days, ...filter });
      const query = new URLSearchParams({ ...days, by, ...filter }).toString();
      await page.goto("about:blank");
      await page.goto(`${daemon.url}/#/overview?${query}`);
      await page.waitForSelector(`caption:text-is("Usage by ${by}")`);
      assert.deepEqual(await readTable(page), expectedTable(stdout, by));
      const length = question.since - question.until + 1;
      const first = noonBefore(always.length).slice(0, 10);
      const before = {
        since: noonBefore(question.since + length).slice(0, 10),
        until: noonBefore(question.since + 1).slice(0, 10),
      };
      assert.deepEqual(
        await readGlance(page),
        expectedGlance(
          stdout,
          await usage({ by, ...before, ...filter }),
          length === 1 ? "the day before" : `the ${length} days before`,
          before.since > first ? "" : first,
        ),
      );
      assert.deepEqual(
        await page.locator(".why").allTextContents(),
        rowsOf(stdout).length === 0 ? [] : expectedReason(stdout),
      );
      await assertChart(page, await usage({ by: `day,${by}`, ...days, ...filter }), by, length);
      await page.goto(`${daemon.url}/#/sessions?${new URLSearchParams({ ...days, ...filter }).toString()}`);
      await page.waitForSelector('caption:text-is("Sessions")');
      const sessions = rowsOf(await usage({ by: "session,tool", ...days, ...filter }));
      const hasWorth = sessions.some((row) => row["plan_worth_usd"] !== null);
      assert.deepEqual(
        (await readRows(page, "Sessions"))
          .map(([, , tool, , , , ...figures]) => [tool, ...figures].join())
          .toSorted(),
        sessions.map((row) => sessionCells(row, hasWorth)).toSorted(),
      );
      await page.goto("about:blank");
      await page.goto(`${daemon.url}/#/live`);
      await page.waitForSelector('caption:text-is("Ended")');
      const { stdout: last } = await daemon.command("tail", "--no-follow", "--json", "--lines=20");
      assert.deepEqual(
        (await readRows(page, "Ended")).map((cells) => cells.slice(1, 7).join()),
        last
          .trim()
          .split("\n")
          .map((line) => liveCells(JSON.parse(line) as UsageRecord))
          .toReversed(),
      );
    });
    await fc.assert(property, { numRuns: 8, endOnFailure: true });
    assert.deepEqual(problems, []);
  },
);

test(
  "days are chosen by keyboard, and zoomed into by dragging over the chart, to hours; back undoes both",
  { skip },
  async (t) => {
    const records = [2, 3, 4].flatMap((days) => [
      usageRecord({ ts: noonBefore(days), tool: `tool-${days}` }),
      usageRecord({ ts: noonBefore(days).replace("T12", "T15"), tool: `late-${days}` }),
    ]);
    const daemon = await startWithRecords(t, records);
    const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
    await page.goto(`${daemon.url}/#/overview?since=7d`);
    await page.waitForSelector('th:has-text("tool-4")');
    await page.selectOption("select >> nth=0", "own");
    const [from, to] = [page.locator("input >> nth=0"), page.locator("input >> nth=1")];
    await from.fill(noonBefore(4).slice(0, 10));
    await page.waitForURL(new RegExp(`since=${noonBefore(4).slice(0, 10)}`));
    await to.fill(noonBefore(3).slice(0, 10));
    await page.waitForSelector('th:has-text("tool-2")', { state: "detached" });
    assert.deepEqual(Object.keys(await readTable(page)).toSorted(), [
      "late-3",
      "late-4",
      "tool-3",
      "tool-4",
      "total",
    ]);
    await page.goto(`${daemon.url}/#/overview?since=7d`);
    await page.waitForSelector('th:has-text("tool-2")');
    await drag(3.3 / 7, 3.9 / 7);
    await page.waitForSelector('th:has-text("tool-2")', { state: "detached" });
    assert.match(
      page.url(),
      new RegExp(`since=${noonBefore(3).slice(0, 10)}&until=${noonBefore(3).slice(0, 10)}`),
    );
    await drag(14.1 / 24, 16.9 / 24);
    await page.waitForSelector('th:has-text("tool-3")', { state: "detached" });
    assert.deepEqual(Object.keys(await readTable(page)), ["late-3", "total"]);
    assert.match(decodeURIComponent(page.url()), /T14:00:00\.000Z&until=.*T17:00:00\.000Z/);
    await page.goBack();
    await page.waitForSelector('th:has-text("tool-3")');
    await page.goBack();
    await page.waitForSelector('th:has-text("tool-2")');
    assert.deepEqual(problems, []);

    /** Drags over a part of the chart, from the share of its width where it starts to that where it ends. */
    async function drag(start: number, end: number): Promise<void> {
      const area = page.locator(".chart .area");
      await area.scrollIntoViewIfNeeded();
      const box = await area.boundingBox();
      assert.ok(box !== null);
      const y = box.y + box.height / 2;
      await page.mouse.move(box.x + box.width * start, y);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * end, y, { steps: 4 });
      await page.mouse.up();
    }
  },
);
