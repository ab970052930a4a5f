import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords } from "../../../helpers/client/dashboard.ts";
import { startStream } from "../../../daemon/running-stream.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const CONTROLS = "a, button, select, input";

/** Records of three tools in two sessions. */
function records() {
  const now = Date.now() - 60_000;
  return Array.from({ length: 12 }, (_, at) =>
    usageRecord({
      ts: new Date(now - at).toISOString(),
      tool: ["codex", "claude-code", "zed"][at % 3] ?? "",
      model: "claude-sonnet-5",
      session: `session-${at % 2}`,
      upstream: "default",
      tokens: tokens({ input_uncached: 1_000 * (at % 3), output: 1 + at }),
    }),
  );
}

/** Has the browser remember what the feeds answer, so that the same question is asked once. */
async function rememberAnswers(page: Page): Promise<void> {
  const answers = new Map<string, Promise<Buffer>>();
  await page.route(/\/v1\/(?:usage|records|status|cost)/, async (route) => {
    const url = route.request().url();
    // The browser would add it.
    const headers = { ...route.request().headers(), "sec-fetch-site": "same-origin" };
    const ask = async () => (await route.fetch({ headers })).body();
    const answer = answers.get(url) ?? ask();
    answers.set(url, answer);
    await route.fulfill({ body: await answer });
  });
}

/** Uses the control as a reader does: clicks it, chooses its last value, or types. False where a window of this width does not show it. */
async function use(page: Page, at: number): Promise<boolean> {
  const control = page.locator(CONTROLS).nth(at);
  if (!(await control.isVisible())) return false;
  const kind = await control.evaluate((node) => node.tagName);
  if (kind === "INPUT") await control.fill("codex");
  else if (kind === "SELECT")
    await control.selectOption({ index: (await control.locator("option").count()) - 1 });
  else await control.click();
  return true;
}

const VIEWS = {
  overview: ["overview?since=7d&tool=codex", ".table tbody tr"],
  requests: ["requests?since=7d&tool=codex", ".table tbody tr"],
  sessions: ["sessions?since=7d", ".table tbody tr"],
  "a session": ["sessions?since=7d&session=session-1", 'caption:text-is("Requests of this session")'],
  live: ["live", ".live tbody tr"],
  health: ["health", ".part"],
} as const;

for (const [name, [hash, shown]] of Object.entries(VIEWS))
  test(`every control of the page does something without a problem: ${name}`, { skip }, async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page, problems } = await openChromium(t);
    await rememberAnswers(page);
    const show = async () => {
      await page.evaluate(`location.hash = ${JSON.stringify(`/${hash}`)}`);
      await page.waitForSelector(shown);
      await page.waitForSelector('main[aria-busy="false"]');
    };
    await page.goto(daemon.url);
    await show();
    const count = await page.locator(CONTROLS).count();
    let used = 0;
    for (let at = 0; at < count; at += 1) {
      await show();
      if (!(await use(page, at))) continue;
      used += 1;
      await page.waitForSelector('main[aria-busy="false"]');
      assert.equal(await page.textContent(".problem"), "");
      // Closes the record, where one was opened.
      await page.keyboard.press("Escape");
    }
    await page.unrouteAll({ behavior: "wait" });
    assert.ok(used >= 4);
    assert.deepEqual(problems, []);
  });

test("a control keeps the focus when what is chosen with it is shown", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page } = await openChromium(t);
  await page.goto(`${daemon.url}/#/overview?since=7d`);
  await page.waitForSelector(".table tbody tr");
  const focused = () =>
    page.evaluate("(document.activeElement.closest('label') ?? document.activeElement).textContent");
  await page.focus('label:has-text("By") select');
  await page.keyboard.press("m");
  await page.waitForSelector('caption:text-is("Usage by model")');
  assert.match(String(await focused()), /^By /);
  await page.focus('button.link:text-is("claude-sonnet-5")');
  await page.keyboard.press("Enter");
  await page.waitForSelector("button.filter");
  await page.waitForSelector('main[aria-busy="false"]');
  assert.equal(await focused(), "claude-sonnet-5");
  await page.focus("button.filter");
  await page.keyboard.press("Enter");
  await page.waitForSelector("button.filter", { state: "detached" });
  assert.match(String(await focused()), /^Period /, "the first control, as this one is gone");
});

test("how a table is sorted is in the URL, and back undoes it", { skip }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page } = await openChromium(t);
  const names = () => page.locator(".table tbody th").allTextContents();
  await page.goto(`${daemon.url}/#/overview?since=7d`);
  await page.click('th button:text-is("tool")');
  assert.deepEqual(await names(), ["zed", "codex", "claude-code"]);
  await page.click('th button:text-is("tool")');
  assert.deepEqual(await names(), ["claude-code", "codex", "zed"]);
  const sorted = page.url();
  await page.goBack();
  await page.waitForSelector('th[aria-sort="descending"]:has-text("tool")');
  await page.goBack();
  await page.waitForSelector('th[aria-sort="descending"]:has-text("cost")');
  await page.goto("about:blank");
  await page.goto(sorted);
  await page.waitForSelector('th[aria-sort="ascending"]:has-text("tool")');
  assert.deepEqual(await names(), ["claude-code", "codex", "zed"]);
});

test(
  "a running request keeps its row, and the focus on it, while its figures change",
  { skip },
  async (t) => {
    const { daemon, finish } = await startStream(t);
    const { page } = await openChromium(t);
    await page.goto(`${daemon.url}/#/live`);
    const row = page.locator('table:has(caption:text-is("Running")) tbody tr');
    await row.locator("button").focus();
    const age = await row.locator("td").nth(6).textContent();
    await row.locator(`td:nth-child(8):not(:text-is("${age}"))`).waitFor();
    assert.equal(await page.evaluate("document.activeElement.closest('tbody tr') !== null"), true);
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Escape");
    await finish();
    await page.waitForSelector('caption:text-is("Nothing is running")');
  },
);
