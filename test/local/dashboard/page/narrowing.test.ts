import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords } from "../../../helpers/client/dashboard.ts";
import { startDaemon } from "../../../helpers/daemon/daemon.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const ROWS = ".table tbody tr:not(.day)";

/** Three requests of two tools a minute ago, in one session: one completed, one failed and one was refused. */
function records() {
  const now = Date.now() - 60_000;
  const shared = { model: "claude-sonnet-5", upstream: "default", session: "the-session" };
  const NONE = { tokens: null, usage: "none" } as const;
  return [
    { tool: "codex", project: "/home/me/src/shop", tokens: tokens({ input_uncached: 1_000 }) },
    { tool: "codex", project: "/home/me/src/shop", outcome: "error", status: 529, ...NONE } as const,
    {
      tool: "zed",
      project: "/home/me/web/shop",
      outcome: "rejected",
      status: 402,
      error_type: "budget_spent",
      ...NONE,
    } as const,
  ].map((one, at) =>
    usageRecord({ ...shared, ...one, ts: new Date(now + at).toISOString(), id: `the-${at}` }),
  );
}

test(
  "a tool, a model or a project is chosen from lists, which keep what else there is to choose",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page, problems } = await openChromium(t);
    await page.goto(`${daemon.url}/#/requests?since=7d`);
    const options = (label: string) =>
      page.locator(`.narrowing label:has-text("${label}") option`).allTextContents();
    await page.waitForSelector(".narrowing select");
    assert.deepEqual(await options("Tool"), ["any", "codex", "zed"]);
    assert.deepEqual(await options("Project"), ["any", "src/shop", "web/shop"]);
    await page.selectOption('label:has-text("Project") select', { label: "web/shop" });
    await page.waitForURL(/project=%2Fhome%2Fme%2Fweb%2Fshop/);
    await page.waitForSelector('.table:not(:has-text("codex"))');
    assert.equal(await page.locator(ROWS).count(), 1);
    assert.deepEqual(await options("Project"), ["any", "src/shop", "web/shop"]);
    await page.selectOption('label:has-text("Project") select', { label: "any" });
    await page.locator(ROWS).nth(2).waitFor();
    assert.deepEqual(problems, []);
  },
);

test("on a phone a button unfolds the lists, and says how many are used", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t, { viewport: { width: 390, height: 800 } });
  await page.goto(`${daemon.url}/#/requests?since=7d`);
  const unfold = page.getByRole("button", { name: /^Filters/ });
  await unfold.waitFor();
  const lists = page.locator(".narrowing select");
  assert.equal(await lists.first().isVisible(), false);
  await unfold.click();
  assert.equal(await unfold.getAttribute("aria-expanded"), "true");
  await page.selectOption('label:has-text("Tool") select', "zed");
  await page.waitForSelector('button:has-text("Filters (1)")');
  // They stay unfolded, and two lists are the most that is used here.
  await page.selectOption('label:has-text("Project") select', { label: "web/shop" });
  await page.waitForSelector('button:has-text("Filters (2)")');
  await unfold.click();
  assert.equal(await lists.first().isVisible(), false);
  await page.setViewportSize({ width: 1_280, height: 800 });
  assert.equal(await unfold.isVisible(), false);
  assert.equal(await lists.first().isVisible(), true);
  assert.deepEqual(problems, []);
});

test("controls stand beside their names alike, in one line, however long names are", { skip }, async (t) => {
  const long = records().map((record) => ({
    ...record,
    model: `${"a-long-name-".repeat(5)}1`,
    project: `/home/me/${"a-long-name-".repeat(5)}1`,
  }));
  const daemon = await startWithRecords(t, long);
  const { page } = await openChromium(t, { viewport: { width: 1_440, height: 900 } });
  await page.goto(`${daemon.url}/#/requests?since=7d`);
  await page.waitForSelector('main[aria-busy="false"]');
  await page.waitForSelector(".narrowing select");
  const labels = await page.$$eval("main .controls label:has(select, input)", (all) =>
    all
      .filter((label) => label.getClientRects().length > 0)
      .map((label) => {
        const text = label.ownerDocument.createRange();
        text.selectNodeContents(label.firstChild ?? label);
        const control = label.querySelector("select, input")?.getBoundingClientRect();
        return { gap: (control?.left ?? 0) - text.getBoundingClientRect().right, top: control?.top ?? 0 };
      }),
  );
  assert.ok(labels.length >= 3);
  for (const { gap, top } of labels) {
    assert.ok(gap < 8, JSON.stringify(labels));
    assert.ok(Math.abs(top - (labels[0]?.top ?? 0)) < 3, JSON.stringify(labels));
  }
});

test(
  "a period without requests is told from a ledger without any, which has nothing to choose from",
  { skip },
  async (t) => {
    const old = records().map((record) => ({
      ...record,
      ts: new Date(Date.parse(record.ts) - 20 * 24 * 60 * 60 * 1_000).toISOString(),
    }));
    const daemon = await startWithRecords(t, old);
    const { page } = await openChromium(t);
    await page.goto(`${daemon.url}/#/requests?since=7d`);
    await page.waitForSelector('.empty h2:text-is("No request in this period")');
    assert.equal(await page.locator("main > .controls").isVisible(), true);
    const unused = await startWithRecords(t, []);
    for (const view of ["overview", "requests"]) {
      await page.goto(`${unused.url}/#/${view}`);
      await page.waitForSelector('.empty h2:text-is("No requests yet")');
      // There is nothing to choose from.
      assert.equal(await page.locator("main > .controls").isVisible(), false, view);
    }
  },
);

test(
  "a list of several days names the day of its rows, also of one; today needs no name",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page, problems } = await openChromium(t);
    await page.goto(`${daemon.url}/#/requests?since=7d`);
    await page.waitForSelector('.day th:has-text("today")');
    await page.goto(`${daemon.url}/#/sessions?since=7d`);
    await page.waitForSelector('.sessions .day small:text-is("2 sessions, $0.00200")');
    await page.goto(`${daemon.url}/#/requests?since=today`);
    await page.waitForSelector('main[aria-busy="false"] caption:text-is("Requests")');
    await page.waitForSelector(".day", { state: "detached" });
    assert.deepEqual(problems, []);
  },
);

test("a session counts its requests as its list does, and says how they ended", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t);
  await page.goto(`${daemon.url}/#/sessions?since=7d&session=the-session`);
  const cards = page.locator('.glance .card:has(h2:text-is("Requests"))');
  await cards.first().waitFor();
  const said = (await cards.allTextContents()).toSorted();
  assert.deepEqual(said, ["Requests11 refused", "Requests21 completed, 1 failed"]);
  assert.match((await page.textContent("h2.session")) ?? "", /claude-sonnet-5/);
  assert.equal(await page.locator('.of-session [data-column="model"]').count(), 0);
  assert.deepEqual(problems, []);
});

test("on a phone a notice is short, and the view of health has the rest", { skip }, async (t) => {
  const daemon = await startDaemon(t, {
    config: {
      upstreams: { default: { baseUrl: "http://127.0.0.1:9/v1", key: "none" } },
    },
  });
  const { page, problems } = await openChromium(t, { viewport: { width: 390, height: 800 } });
  await (await post(daemon, "/t/codex/v1/messages", { model: "m", max_tokens: 5, messages: [] })).text();
  await page.goto(`${daemon.url}/#/requests`);
  await page.click('.notices .failure a:text-is("Fix it in Health ›")');
  await page.waitForSelector(".verdict-line");
  assert.deepEqual(problems, []);
});

test("the sandbox is named once, with the way out of it", { skip }, async (t) => {
  const daemon = await startDaemon(t);
  const { page, problems } = await openChromium(t, { viewport: { width: 390, height: 800 } });
  await (
    await post(daemon, "/t/codex/v1/messages", {
      model: "claude-sonnet-5",
      max_tokens: 8,
      messages: [{ role: "user", content: "hello" }],
    })
  ).text();
  await page.goto(`${daemon.url}/#/overview`);
  await page.waitForSelector(".sums");
  assert.equal(await page.getByText("made up").count(), 1);
  await page.waitForSelector('.notices code:text-is("tollkeeper setup")');
  // The badge has its place in the first line.
  const tops = await page.$$eval("header > :is(h1, .badge, .frame)", (all) =>
    all.map((one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return (top + bottom) / 2;
    }),
  );
  assert.equal(tops.length, 3);
  assert.ok(Math.max(...tops) - Math.min(...tops) < 15, tops.join());
  await page.goto(`${daemon.url}/#/health`);
  await page.waitForSelector(
    '.of-idle:has(h2:text-is("Budgets")) code:has-text("tollkeeper budget set --all --usd 20 --per day")',
  );
  assert.deepEqual(problems, []);
});
