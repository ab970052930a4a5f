import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import {
  EVIL,
  costOf,
  dollars,
  expectedTable,
  readTable,
  startWithRecords,
  variedRecords,
  writeRecords,
} from "../../../helpers/client/dashboard.ts";
import { launchDaemon, startDaemon } from "../../../helpers/daemon/daemon.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";
import { freePort } from "../../../helpers/process/free-port.ts";
import { waitInPage } from "../../../helpers/client/wait-in-page.ts";

const BODY = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };
const skip = noBrowser;
const DAY_MS = 24 * 60 * 60 * 1_000;

test(
  "the page shows the same figures as usage --json, however they are grouped, and hostile names as text",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, variedRecords(200));
    const { page, problems } = await openChromium(t);
    for (const by of ["tool", "model", "session", "key", "account"]) {
      await page.goto(`${daemon.url}/#/overview?since=30d&by=${by}`);
      await page.waitForSelector(`caption:text-is("Usage by ${by}")`);
      const { stdout } = await daemon.command("usage", "--json", "--by", by, "--since", "30d");
      assert.deepEqual(await readTable(page), expectedTable(stdout, by));
    }
    assert.deepEqual(problems, []);
  },
);

test(
  "what is clicked is in the URL, and back undoes it; columns sort; CSV has the same figures",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, variedRecords(60));
    const { page } = await openChromium(t);
    await page.goto(`${daemon.url}/#/overview?since=7d`);
    await page.click('button.link:text-is("zed")');
    await page.waitForSelector('button.filter:has-text("tool: zed")');
    await page.waitForSelector('main[aria-busy="false"]');
    assert.match(page.url(), /tool=zed/);
    assert.deepEqual(Object.keys(await readTable(page)), ["zed", "total"]);
    await page.goBack();
    await page.waitForSelector("button.filter", { state: "detached" });
    await page.waitForSelector('button.link:text-is("codex")');
    await page.selectOption("select >> nth=1", "model");
    await page.waitForSelector('caption:text-is("Usage by model")');
    assert.match(page.url(), /by=model/);
    await page.click('th button:text-is("requests")');
    const sorted = await page.$$eval(".table tbody tr td:nth-child(3)", (cells) =>
      cells.map((cell) => Number(cell.textContent)),
    );
    assert.deepEqual(
      sorted,
      sorted.toSorted((a, b) => b - a),
    );
    assert.equal(await page.getAttribute("th:nth-child(3)", "aria-sort"), "descending");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.click('button:text-is("Download CSV")'),
    ]);
    const csv = readFileSync(await download.path(), "utf8");
    assert.match(csv, /^model,cost,requests,tokens in,from cache,tokens out,failed,certainty\r\n/);
    assert.equal(csv.split("\r\n").length, 5);
  },
);

test(
  "the keyboard alone reaches the views, and a request is seen as it ends, with its whole record",
  { skip },
  async (t) => {
    const daemon = await startDaemon(t);
    const { page, problems } = await openChromium(t);
    await page.goto(daemon.url);
    await page.waitForSelector(".empty pre, .glance");
    for (const key of ["Tab", "Tab", "Tab", "Tab", "Enter"]) await page.keyboard.press(key);
    await page.waitForSelector(".live");
    await (await post(daemon, "/t/codex/v1/messages", { ...BODY, model: EVIL })).text();
    const row = page.locator('table:has(caption:text-is("Ended")) tr:has-text("codex")').first();
    await row.waitFor();
    assert.ok((await row.textContent())?.includes("<img src=x onerror=alert(1)>\\u202e"));
    await row.locator("button").click();
    await page.waitForSelector("dialog[open]");
    assert.match((await page.textContent("dialog")) ?? "", /tool_by.*path/);
    await page.keyboard.press("Escape");
    await (await post(daemon, "/v1/realtime", {})).text();
    await page.waitForSelector('.live tr.warning:has-text("refused: not found")');
    await page.fill("input", "nothing like it");
    await page.waitForSelector(".live tbody tr", { state: "detached" });
    assert.deepEqual(problems, []);
  },
);

test(
  "a session's requests show how its context grew, and a record is explained in words",
  { skip },
  async (t) => {
    const now = aMinuteAgoToday();
    const grown = Array.from({ length: 5 }, (_, at) =>
      usageRecord({
        ts: new Date(now + at).toISOString(),
        session: "the-session",
        upstream: "default",
        model: "claude-sonnet-5",
        tokens: tokens({ input_uncached: 100, cache_read: 1_000 * at, output: 5 }),
      }),
    );
    const daemon = await startWithRecords(t, [...variedRecords(20), ...grown]);
    const { page, problems } = await openChromium(t);
    const today = new Date(now).toISOString().slice(0, 10);
    await page.goto(`${daemon.url}/#/sessions?since=${today}&until=${today}`);
    await page.click('tr:has-text("the-session") button.link');
    const own = page.locator('table:has(caption:text-is("Requests of this session")) tbody tr');
    await own.first().waitFor();
    assert.deepEqual(await own.locator("td:nth-child(6)").allTextContents(), [
      "4,100",
      "3,100",
      "2,100",
      "1,100",
      "100",
    ]);
    // 100 tokens at 2 dollars, 1,000 at 0.2 and 5 at 10 per million; each request reads 1,000 more.
    assert.deepEqual(await own.locator("td:nth-child(4)").allTextContents(), [
      "$0.00105",
      "$0.00085",
      "$0.00065",
      "$0.00045",
      "$0.00025",
    ]);
    assert.equal(await own.first().locator("td:nth-child(5)").textContent(), "$0.00325");
    assert.equal(await page.locator(".chart svg").count(), 1);
    await page.click('button:text-is("‹ All sessions")');
    await page.waitForSelector('.sessions button.name[title*="session session-1"]');
    await page.goto(`${daemon.url}/#/live`);
    await page.locator(".live tbody button.link").first().click();
    const text = (await page.textContent("dialog")) ?? "";
    assert.match(text, /The tool was recognized as codex by the address that it requests/);
    assert.match(text, /The tokens are the service's final counts\./);
    assert.deepEqual(problems, []);
  },
);

test("health says in words how the daemon is, with the figures of budget --json", { skip }, async (t) => {
  const daemon = await startWithRecords(t, variedRecords(100));
  await daemon.stop();
  // Budgets count what the ledger has when the daemon starts.
  const upstreams = (JSON.parse(readFileSync(daemon.configFile, "utf8")) as { upstreams: object }).upstreams;
  const budgets = [
    { tokens: 1_000_000, per: "week", unpriced: "allow" },
    { usd: 0.25, per: "month", unpriced: "allow" },
    { usd: 900, per: "week", action: "warn", unpriced: "allow" },
  ];
  const { ready, kill } = launchDaemon(daemon.home, { config: { upstreams, budgets } });
  t.after(kill);
  const next = await ready;
  const { page, problems } = await openChromium(t);
  await page.goto(`${next.url}/#/health`);
  await page.waitForSelector(".part [role=meter]");
  const text = (await page.textContent("main")) ?? "";
  assert.match(text, /^.+\. No upstream was contacted yet\./);
  assert.match(text, /tollkeeper [\d.]+ is serving, since/);
  assert.match(text, /defaultnot needed yetfile /);
  assert.match(text, /\d [kMGT]B free on the disk/);
  assert.doesNotMatch(text, /some-key/);
  const known = JSON.parse((await next.command("budget", "--json")).stdout) as { budgets: Budget[] };
  assert.equal(known.budgets.length, budgets.length);
  // The fullest comes first.
  known.budgets.sort((one, other) => other.percent - one.percent);
  assert.ok(known.budgets.every(({ spent }) => Number(spent) > 0));
  const shown = await page.$$eval(".meter > div:first-child", (all) => all.map((one) => one.textContent));
  assert.deepEqual(shown, known.budgets.map(budgetText));
  const bars = await page.$$eval("[role=meter]", (all) =>
    all.map((bar) => bar.getAttribute("aria-valuenow")),
  );
  assert.deepEqual(
    bars,
    known.budgets.map(({ percent }) => String(Math.min(100, percent))),
  );
  const outlooks = await page.$$eval(".meter", (all) => all.map((one) => one.textContent ?? ""));
  outlooks.forEach((outlook, at) => {
    const { percent, spent_at: spentAt } = known.budgets[at] as Budget;
    assert.equal(/At this rate, spent by/.test(outlook), spentAt !== null && percent < 100);
    assert.match(outlook, /Starts over|Refused until/);
  });
  assert.deepEqual(problems, []);
});

test(
  "the overview begins with today, this month and the fullest budgets, with the figures of usage --json",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, variedRecords(60));
    await daemon.stop();
    const { upstreams } = JSON.parse(readFileSync(daemon.configFile, "utf8")) as { upstreams: object };
    const budgets = [{ tokens: 100, per: "month", unpriced: "allow" }];
    const tools = { zed: { budgets: [{ usd: 900, per: "week", unpriced: "allow" }] } };
    const { ready, kill } = launchDaemon(daemon.home, { config: { upstreams, budgets, tools } });
    t.after(kill);
    const next = await ready;
    const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
    await page.goto(`${next.url}/#/overview?since=7d`);
    await page.waitForSelector(".standing .meter");
    const cards = await page.$$eval(".standing .card strong", (all) => all.map((one) => one.textContent));
    const month = new Date().toISOString().slice(0, 7);
    const usage = ["usage", "--json", "--timezone=UTC"];
    const known = [
      await next.command(...usage, "--since=today"),
      await next.command(...usage, `--since=${month}-01`),
    ].map(({ stdout }) => costOf((JSON.parse(stdout) as { total: Record<string, unknown> }).total));
    assert.deepEqual(cards, known);
    const names = await page.$$eval(".standing .meter span:first-child", (all) =>
      all.map((one) => one.textContent).filter((text) => text !== ""),
    );
    assert.deepEqual(names, ["all tools per month", "zed per week"]);
    assert.equal(await page.locator(".standing .meter.failure").count(), 1);
    // With a filter there is no budget to show beside it.
    await page.goto(`${next.url}/#/overview?since=7d&tool=zed`);
    await page.waitForSelector(".standing .card:nth-child(2):last-child");
    assert.deepEqual(problems, []);
  },
);

interface Budget {
  window: { per: string };
  limit: { usd: number } | { tokens: number };
  percent: number;
  spent: string;
  amount: string;
  spent_at: string | null;
}

function budgetText({ window, limit, percent, spent, amount }: Budget): string {
  const format = (text: string) =>
    "usd" in limit ? dollars(Number(text)) : Number(text).toLocaleString("en-US");
  const share = percent === 0 && Number(spent) > 0 ? "<1" : percent;
  const unit = "usd" in limit ? "" : " tokens";
  return `all tools per ${window.per}${share}% spent, ${format(spent)} of ${format(amount)}${unit}`;
}

test(
  "without requests, the page says how to connect a tool, with the command to copy",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, []);
    const { page, problems } = await openChromium(t, { permissions: ["clipboard-read", "clipboard-write"] });
    await page.goto(daemon.url);
    await page.click('.empty button:text-is("Copy")');
    await page.waitForSelector('button:text-is("Copied")');
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), "tollkeeper connect claude-code");
    // There are none in any period.
    assert.equal(await page.locator('button:text-is("Show the last 30 days")').count(), 0);
    for (const view of ["requests", "sessions"]) {
      await page.goto(`${daemon.url}/#/${view}?since=7d`);
      await page.waitForSelector('.empty pre:text-is("tollkeeper connect claude-code")');
      await page.goto(`${daemon.url}/#/${view}?since=7d&tool=zed`);
      await page.click('button:text-is("Clear the filters")');
      await page.waitForSelector("button.filter", { state: "detached" });
    }
    // Noon, so that it is in this month or the last one.
    writeRecords(daemon, [
      usageRecord({ ts: `${new Date(Date.now() - 3 * DAY_MS).toISOString().slice(0, 10)}T12:00:00.000Z` }),
    ]);
    await page.goto(`${daemon.url}/#/overview?since=today`);
    await page.click('button:text-is("Show the last 30 days")');
    await page.waitForURL(/since=30d/);
    assert.deepEqual(problems, []);
  },
);

test("the sandbox is marked in every view, and its tokens are no costs", { skip }, async (t) => {
  const daemon = await startDaemon(t);
  await (await post(daemon, "/t/codex/v1/messages", BODY)).text();
  const { page, problems } = await openChromium(t);
  for (const view of ["overview", "requests", "sessions", "live", "health"]) {
    await page.goto(`${daemon.url}/#/${view}?since=7d`);
    await page.waitForSelector(".badge:visible");
    await page.waitForSelector('main[aria-busy="false"]');
  }
  await page.goto(`${daemon.url}/#/overview?since=7d`);
  await page.waitForSelector('.notices .warning:has-text("made up")');
  await page.waitForSelector(".period strong");
  // There was nothing before, so that nothing is compared.
  assert.deepEqual(await page.locator(".period > :not(h2)").allTextContents(), ["$0.00 (sandbox)"]);
  assert.doesNotMatch((await page.locator("main .card").allTextContents()).join(), /before|saved/);
  assert.deepEqual(await page.locator(".sums thead th").allTextContents(), [
    "tool",
    "cost",
    "requests",
    "tokens in",
    "from cache",
    "tokens out",
  ]);
  assert.equal(await page.getAttribute('.sums tfoot [data-column="requests"]', "data-unit"), "request");
  assert.deepEqual(await page.locator('.sums [data-column="cost"]:is(td)').allTextContents(), [
    "$0.00",
    "$0.00",
  ]);
  assert.match((await page.textContent(".glance-line")) ?? "", /^1 request, \d+ tokens in, \d+ out$/);
  // It says what it shows.
  assert.equal(await page.inputValue('label:has-text("Chart") select'), "tokens");
  await page.waitForSelector('.chart .title:has-text("Tokens by day")');
  assert.deepEqual(problems, []);
});

test("a table shows 100 rows, and the others if they are asked for; CSV has all", { skip }, async (t) => {
  const many = variedRecords(130).map((record, at) => ({ ...record, session: `session-${at}` }));
  const daemon = await startWithRecords(t, many);
  const { page } = await openChromium(t);
  await page.goto(`${daemon.url}/#/sessions?since=7d`);
  const rows = page.locator(".table tbody tr:not(.day)");
  await rows.first().waitFor();
  assert.equal(await rows.count(), 100);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.click('button:text-is("Download CSV")'),
  ]);
  assert.equal(readFileSync(await download.path(), "utf8").split("\r\n").length, 132);
  await page.click('button:text-is("Show all 130 rows")');
  assert.equal(await rows.count(), 130);
  assert.equal(await page.locator('button:has-text("Show all")').count(), 0);
});

test(
  "while the daemon is gone, the page keeps its figures, says how old they are, and what to type",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, variedRecords(60));
    const { page } = await openChromium(t, { viewport: { width: 1_000, height: 300 } });
    await page.goto(`${daemon.url}/#/overview?since=7d`);
    await page.waitForSelector('.age:text-is("up to date")');
    await daemon.stop();
    await page.waitForSelector('[role="alert"]:has-text("To see why, type: tollkeeper doctor")');
    await page.waitForSelector('.age:has-text("updated")');
    assert.equal(await page.locator(".table tbody tr").count(), 3);
    // Also for those who have scrolled down.
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    await waitInPage(page, "document.querySelector('.problem').getBoundingClientRect().top === 0");
  },
);

test("the page says when the daemon is gone, and goes on with the next", { skip }, async (t) => {
  const port = await freePort();
  const daemon = await startDaemon(t, { port });
  const { page } = await openChromium(t);
  await page.goto(`${daemon.url}/#/live`);
  await page.waitForSelector('[role="status"]:has-text("0 running")');
  await daemon.stop();
  await page.waitForSelector('[role="alert"]:has-text("waiting for")');
  const { ready, kill } = launchDaemon(daemon.home, { port });
  t.after(kill);
  await ready;
  await page.waitForSelector(".problem:empty", { state: "attached" });
  await (await post(daemon, "/t/zed/v1/messages", BODY)).text();
  await page.waitForSelector('.live tr:has-text("zed")');
});

/** Of a window on a desk, the same at 200 % and at 400 % (WCAG 2.2, 1.4.10), and of a phone. */
