/** The questions of docs/dashboard.md, each answered on its path with at most three clicks, or by its command. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { writeRecords } from "../../../helpers/client/dashboard.ts";
import { launchDaemon, prepareHome } from "../../../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../../../helpers/keychain/key-file.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const MOST_CLICKS = 3;
const DAY_MS = 24 * 60 * 60 * 1_000;
const DOCUMENT = new URL("../../../../docs/dashboard.md", import.meta.url);

/** Three days ago was dear, because of codex; a request failed, and one missed the cache. */
function records() {
  const now = aMinuteAgoToday();
  const shared = { model: "claude-sonnet-5", upstream: "default", project: "/home/me/src/shop" };
  const cached = { cache_write: 20_000, output: 1_000 };
  return [
    { before: 3, tool: "codex", tokens: tokens({ output: 900_000 }) },
    { before: 3, tool: "zed", tokens: tokens({ output: 1_000 }) },
    { before: 1, tool: "zed", session: "last-night", tokens: tokens({ output: 2_000 }) },
    { before: 0, tool: "claude-code", session: "missed", tokens: tokens(cached) },
    {
      before: 0,
      tool: "claude-code",
      session: "missed",
      tokens: tokens(cached),
      miss: "tools_changed",
      miss_by: "said",
      miss_tokens: 20_000,
    },
    {
      before: 0,
      tool: "codex",
      outcome: "error",
      status: 529,
      error_type: "overloaded_error",
      usage: "none",
      tokens: null,
    },
  ].map(({ before, ...one }, at) =>
    usageRecord({ ...shared, ...(one as object), ts: new Date(now - before * DAY_MS + at).toISOString() }),
  );
}

/** A daemon with those records, a budget and a plan with two windows. */
async function start(t: TestContext) {
  const { config: keys } = writeKeyFile(t, "https://api.anthropic.com/v1", "some-key");
  const config = { ...keys, budgets: [{ usd: 20, per: "month" }] };
  const { home } = prepareHome(t, { config });
  const state = join(home, "state", "tollkeeper");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const window = { limit: null, remaining: null, resetsAt: Date.now() + DAY_MS, seenAt: Date.now() };
  const windows = [
    { ...window, window: "5h", usedPercent: 82 },
    { ...window, window: "7d", usedPercent: 61 },
  ];
  const accounts = [{ account: "plan:claude/3f2a91c0", windows, resets: {} }];
  writeFileSync(join(state, "limits.json"), JSON.stringify({ v: 1, accounts }), { mode: 0o600 });
  const { ready, kill } = launchDaemon(home, { config });
  t.after(kill);
  const daemon = await ready;
  writeRecords(daemon, records());
  return daemon;
}

/** A page whose clicks are counted. */
class Walk {
  clicks = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async click(selector: string): Promise<void> {
    this.clicks += 1;
    await this.page.click(selector);
  }

  /** Chooses from a list, which takes as much as a click. */
  async choose(label: string, value: string): Promise<void> {
    this.clicks += 1;
    await this.page.selectOption(`label:has-text("${label}") select`, value);
  }

  /** Clicks the bar of the day so many days ago, in a chart of seven. */
  async clickDay(before: number): Promise<void> {
    this.clicks += 1;
    const over = this.page.locator(".chart .area");
    await over.waitFor();
    const box = await over.boundingBox();
    assert.ok(box !== null);
    // A bar takes a day, and there is room for a tenth of one at each end.
    await over.click({ position: { x: (box.width * (6 - before + 0.6)) / 7.2, y: box.height / 2 } });
  }
}

/** What a person does from the overview of today, and what then answers the question. */
const PATHS: Readonly<Record<string, readonly [walk: (walk: Walk) => Promise<void>, answer: string]>> = {
  "Why was Tuesday dear?": [
    async (walk) => {
      await walk.choose("Period", "7d");
      await walk.page.waitForSelector('.title:has-text("Cost by day")');
      await walk.clickDay(3);
      await walk.page.waitForSelector('.title:has-text("Cost by hour")');
    },
    '.sums tbody tr:first-child:has-text("codex"):has-text("$9.00")',
  ],
  "Which request was the dearest this week?": [
    async (walk) => {
      await walk.click('nav a:text-is("requests")');
      await walk.choose("Period", "7d");
      await walk.page.waitForURL(/requests\?since=7d/);
      await walk.page.waitForSelector('main[aria-busy="false"] .day');
      await walk.click('th button:text-is("cost")');
    },
    '.table tbody tr:first-child:has-text("$9.00")',
  ],
  "What failed, and why?": [(walk) => walk.click('a:text-is("1 failed")'), '.verdict:has-text("overloaded")'],
  "Will the budget hold?": [() => Promise.resolve(), '.standing .meter:has-text("all tools per month")'],
  "Which tool spends most?": [() => Promise.resolve(), '.sums tbody tr:first-child:has-text("claude-code")'],
  "Which project?": [(walk) => walk.choose("By", "project"), '.sums tbody th:has-text("shop")'],
  "Did the cache break?": [
    async (walk) => {
      await walk.click('nav a:text-is("sessions")');
      await walk.click(".sessions tbody tr:not(.day) button.name");
    },
    '.missed:has-text("missed")',
  ],
  "What is left of my plan?": [() => Promise.resolve(), '.standing .meter:has-text("5-hour window")'],
  "What ran last night?": [
    async (walk) => {
      await walk.choose("Period", "7d");
      await walk.page.waitForSelector('.title:has-text("Cost by day")');
      await walk.clickDay(1);
      await walk.page.waitForSelector('.title:has-text("Cost by hour")');
      await walk.click('nav a:text-is("sessions")');
    },
    '.sessions tbody tr:has-text("last-night")',
  ],
  "Is anything out of line?": [() => Promise.resolve(), ".unusual:not(:empty), .out-of-line li"],
};

/** The questions of the document, with the command that answers each. */
function documented(): [question: string, command: string][] {
  const [, table = ""] = readFileSync(DOCUMENT, "utf8").split("## Ten questions");
  return [...table.split("\n## ")[0]!.matchAll(/^\| ([^|]*\?) +\|[^|]*\| `tollkeeper ([^`]*)` +\|$/gm)].map(
    ([, question = "", command = ""]) => [question.trim(), command],
  );
}

test("each of the ten questions is answered with at most three clicks", { skip: noBrowser }, async (t) => {
  const daemon = await start(t);
  const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
  assert.deepEqual(
    documented().map(([question]) => question),
    Object.keys(PATHS),
  );
  for (const [question, [path, answer]] of Object.entries(PATHS)) {
    await page.goto("about:blank");
    await page.goto(daemon.url);
    await page.waitForSelector('main[aria-busy="false"] .glance');
    const walk = new Walk(page);
    await path(walk);
    await page.locator(answer).first().waitFor();
    assert.ok(walk.clicks <= MOST_CLICKS, `${question} ${walk.clicks} clicks`);
  }
  assert.deepEqual(problems, []);
});

test("each of the ten questions is answered by one command", { skip: noBrowser }, async (t) => {
  const daemon = await start(t);
  const dear = new Date(aMinuteAgoToday() - 3 * DAY_MS).toISOString().slice(0, 10);
  for (const [question, command] of documented()) {
    const { code, stdout } = await daemon.command(...command.replace("2026-11-24", dear).split(" "));
    assert.equal(code, 0, question);
    assert.ok(stdout.trim().length > 0, question);
  }
});
