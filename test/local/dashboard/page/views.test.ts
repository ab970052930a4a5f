import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { expectedTable, readTable, startWithRecords } from "../../../helpers/client/dashboard.ts";
import { launchDaemon, startDaemon } from "../../../helpers/daemon/daemon.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { writeKeyFile } from "../../../helpers/keychain/key-file.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";
import { freePort } from "../../../helpers/process/free-port.ts";

const EVIL = `<img src=x onerror=alert(1)>\u202e"'`;
const BODY = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };
const skip = noBrowser;

/** Records of several tools and models, some cut off, some without usage. */
function variedRecords(count: number): UsageRecord[] {
  const now = Date.now() - 60_000;
  return Array.from({ length: count }, (_, at) =>
    usageRecord({
      ts: new Date(now - at).toISOString(),
      tool: ["codex", "claude-code", "zed"][at % 3] ?? "",
      model: at % 5 === 0 ? EVIL : "claude-sonnet-5",
      session: at % 7 === 0 ? null : `session-${at % 4}`,
      upstream: "default",
      ...(at % 11 === 0
        ? { outcome: "cut", usage: "absent", tokens: null }
        : { tokens: tokens({ input_uncached: 1_234 * at, cache_read: 99 * at, output: 7 * at }) }),
    }),
  );
}

test(
  "the page shows the same figures as usage --json, however they are grouped, and hostile names as text",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, variedRecords(200));
    const { page, problems } = await openChromium(t);
    for (const by of ["tool", "model", "session", "key"]) {
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
    for (const key of ["Tab", "Tab", "Tab", "Enter"]) await page.keyboard.press(key);
    await page.waitForSelector(".live");
    await (await post(daemon, "/t/codex/v1/messages", { ...BODY, model: EVIL })).text();
    const row = page.locator('table:has(caption:text-is("Ended")) tr:has-text("codex")').first();
    await row.waitFor();
    assert.ok((await row.textContent())?.includes("<img src=x onerror=alert(1)>\\u202e"));
    await row.locator("button").click();
    await page.waitForSelector("dialog[open]");
    assert.match((await page.textContent("dialog")) ?? "", /tool_by.*path/);
    await page.keyboard.press("Escape");
    await (await post(daemon, "/v1/moderations", {})).text();
    await page.waitForSelector('.live tr.failure:has-text("refused (not_found)")');
    await page.fill("input", "nothing like it");
    await page.waitForSelector(".live tbody tr", { state: "detached" });
    assert.deepEqual(problems, []);
  },
);

test(
  "a session's requests show how its context grew, and a record is explained in words",
  { skip },
  async (t) => {
    const now = Date.now() - 60_000;
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
    await page.click('button.link:text-is("the-session")');
    const own = page.locator('table:has(caption:text-is("Requests of this session")) tbody tr');
    await own.first().waitFor();
    assert.deepEqual(await own.locator("td:nth-child(4)").allTextContents(), [
      "4,100",
      "3,100",
      "2,100",
      "1,100",
      "100",
    ]);
    // 100 tokens at 2 dollars, 1,000 at 0.2 and 5 at 10 per million; each request reads 1,000 more.
    assert.deepEqual(await own.locator("td:nth-child(2)").allTextContents(), [
      "$0.00105",
      "$0.000850",
      "$0.000650",
      "$0.000450",
      "$0.000250",
    ]);
    assert.equal(await own.first().locator("td:nth-child(3)").textContent(), "$0.00325");
    assert.equal(await page.locator(".chart canvas").count(), 1);
    await page.click('button:text-is("All sessions")');
    await page.waitForSelector('button.link:text-is("session-1")');
    await page.goto(`${daemon.url}/#/live`);
    await page.locator(".live tbody button.link").first().click();
    const text = (await page.textContent("dialog")) ?? "";
    assert.match(text, /The tool was recognized as codex by the address that it requests/);
    assert.match(text, /The tokens are the service's final counts\./);
    assert.deepEqual(problems, []);
  },
);

test("health says in words how the daemon is, and draws budgets", { skip }, async (t) => {
  const { config } = writeKeyFile(t, "https://api.anthropic.com/v1", "some-key");
  const daemon = await startDaemon(t, { config: { ...config, budgets: [{ tokens: 1_000, per: "day" }] } });
  const { page, problems } = await openChromium(t);
  await page.goto(`${daemon.url}/#/health`);
  await page.waitForSelector(".part progress");
  const text = (await page.textContent("main")) ?? "";
  assert.match(text, /tollkeeper [\d.]+, serving, since/);
  assert.match(text, /default for default: not asked yet \(file /);
  assert.match(text, /tokens per day: 0% spent, 0 of 1,000; starts over/);
  assert.doesNotMatch(text, /some-key/);
  assert.deepEqual(problems, []);
});

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
const VIEWPORTS = [
  { width: 1280, height: 900 },
  { width: 640, height: 450 },
  { width: 320, height: 225 },
  { width: 390, height: 800 },
];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

for (const colorScheme of ["light", "dark"] as const) {
  test(
    `axe finds nothing serious in any view, ${colorScheme}, also enlarged and on a phone, and nothing moves`,
    { skip },
    async (t) => {
      const daemon = await startWithRecords(t, variedRecords(30));
      // axe has to be put into the page, which its policy would forbid.
      const { page } = await openChromium(t, { colorScheme, bypassCSP: true });
      for (const viewport of VIEWPORTS) {
        await page.setViewportSize(viewport);
        for (const [view, shown] of [
          ["overview", ".table"],
          ["sessions", ".table"],
          ["live", ".live tbody tr"],
          ["health", ".part"],
        ] as const) {
          await page.goto("about:blank");
          await page.goto(`${daemon.url}/#/${view}?since=7d`);
          await page.waitForSelector(shown);
          await page.evaluate(AXE);
          const found = await page.evaluate(async () => {
            const { axe } = globalThis as unknown as {
              axe: { run(): Promise<{ violations: { id: string; impact: string }[] }> };
            };
            return (await axe.run()).violations.map(({ id, impact }) => `${impact}: ${id}`);
          });
          assert.deepEqual([view, found.filter((one) => /^(?:serious|critical)/.test(one))], [view, []]);
          const isTooWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
          assert.equal(isTooWide, false, `${view} at ${viewport.width}`);
          // So that there is nothing to leave out for those who want less motion.
          assert.equal(await page.evaluate("document.getAnimations().length"), 0);
        }
      }
    },
  );
}
