import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { EVIL, readRows, startWithRecords } from "../../../helpers/client/dashboard.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const MINUTE_MS = 60_000;
const SHARED = { upstream: "default", model: "claude-sonnet-5" } as const;

/** Yesterday at noon, so that all requests of a session are on one day. */
function noon(): number {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1, 12).getTime();
}

/** Requests of a session, a minute apart. */
function session(id: string, count: number, changes: (at: number) => Partial<UsageRecord>): UsageRecord[] {
  return Array.from({ length: count }, (_, at) =>
    usageRecord({
      ...SHARED,
      session: id,
      ts: new Date(noon() + at * MINUTE_MS).toISOString(),
      tokens: tokens({ input_uncached: 100, output: 5 }),
      ...changes(at),
    }),
  );
}

function names(page: Page): Promise<string[][]> {
  return page
    .locator(".table tbody tr:not(.day)")
    .evaluateAll((rows) =>
      rows.map((row) => [...row.children].slice(0, 6).map((cell) => cell.textContent ?? "")),
    );
}

test(
  "sessions are named by project, branch, tool and time, and a search filters them as one types",
  { skip },
  async (t) => {
    const daemon = await startWithRecords(t, [
      // Of two models, the one that costs less has more requests.
      ...session("5e551017-1", 13, (at) => ({
        tool: "codex",
        ...(at < 10 && { model: "claude-haiku-4-5" }),
        ...(at >= 10 && { tokens: tokens({ input_uncached: 100_000, output: 5 }) }),
        project: "/home/me/src/shop",
        branch: "fix-login",
      })),
      ...session("5e551017-2", 2, () => ({ tool: "zed", project: "/home/me/client/shop", branch: EVIL })),
      ...session("5e551017-3", 1, () => ({ tool: "zed" })),
    ]);
    const { page, problems } = await openChromium(t);
    await page.goto(`${daemon.url}/#/sessions?since=7d`);
    await page.waitForSelector(".table tbody tr");
    const [first, second, third] = await names(page);
    assert.deepEqual(
      [first?.[0], first?.[1], first?.[2], first?.[3], first?.[5]],
      ["src/shop", "fix-login", "codex", "claude-sonnet-5 +1", "12 min"],
    );
    assert.match(first?.[4] ?? "", /12:12\sPM$/);
    assert.equal(second?.[0], "client/shop");
    assert.ok(second[1]?.startsWith("<img src=x"));
    assert.equal(third?.[0], "(no project)");
    assert.equal(
      await page.getAttribute(".table tbody button", "title"),
      "/home/me/src/shop, session 5e551017-1",
    );
    const box = page.locator("input[type=search]");
    await box.pressSequentially("SHOP zed");
    await page.waitForSelector('[role=status]:text-is("1 of 3 sessions match.")');
    assert.deepEqual(
      (await names(page)).map(([name]) => name),
      ["client/shop"],
    );
    assert.match(page.url(), /search=SHOP\+zed/);
    // The figures may be read meanwhile: the box keeps the focus and the text.
    assert.equal(await page.locator("input[type=search]:focus").inputValue(), "SHOP zed");
    await page.click('th button:text-is("cost")');
    await page.reload();
    await page.waitForSelector('[role=status]:text-is("1 of 3 sessions match.")');
    assert.equal(await box.inputValue(), "SHOP zed");
    await box.fill("nothing like it");
    await page.waitForSelector('[role=status]:text-is("0 of 3 sessions match.")');
    await box.fill("017-1");
    await page.click('.table button:text-is("src/shop")');
    await page.waitForSelector("h2.session");
    await page.click('button:text-is("‹ All sessions")');
    await page.waitForSelector('[role=status]:text-is("1 of 3 sessions match.")');
    assert.deepEqual(problems, []);
  },
);

test(
  "a session says what it is, numbers its requests, marks misses and errors, and sums up its agents",
  { skip },
  async (t) => {
    const own = session("the-session", 310, (at) => ({
      tool: "claude-code",
      project: "/home/me/src/shop",
      branch: "main",
      agent: at % 10 === 0 ? "a-subagent" : null,
      agent_kind: at % 10 === 0 ? "subagent" : "main",
      ...(at === 305
        ? { outcome: "failed", status: 529, usage: "absent", tokens: null }
        : {
            tokens: tokens({
              cache_read: at === 300 ? 0 : 5_000,
              cache_write: at === 300 ? 5_000 : 0,
              output: 5,
            }),
          }),
      ...(at === 300 && { miss: "tools_changed", miss_by: "inferred", miss_tokens: 5_000 }),
      ...(at === 299 && { miss: "system_changed", miss_by: "said", miss_tokens: 2_000 }),
    }));
    const daemon = await startWithRecords(t, own);
    const { page, problems } = await openChromium(t, { permissions: ["clipboard-read", "clipboard-write"] });
    await page.goto(`${daemon.url}/#/sessions?since=7d&session=the-session`);
    await page.waitForSelector(".chart .area");
    assert.match(
      (await page.textContent("h2.session")) ?? "",
      /^claude-code in shop on main, .*12:10\sPM to 5:09\sPM$/,
    );
    await page.click('button:text-is("Copy")');
    await page.waitForSelector('button:text-is("Copied")');
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), "the-session");
    const rows = await readRows(page, "Requests of this session, the last 300 of 310");
    assert.deepEqual([rows[0]?.[1], rows.length], ["310", 100]);
    assert.deepEqual(
      (await readRows(page, "By agent")).map((cells) => [cells[0], cells[2]].join(" ")).toSorted(),
      ["main 279", "subagent a-subage 31"],
    );
    const misses = rows.flatMap((cells) => cells.filter((cell) => cell.includes("missed the cache")));
    assert.equal(misses.length, 2);
    assert.equal(misses[0], "missed the cache: the tools changed, +$0.0115");
    assert.match(
      (await page.textContent(".reasons")) ?? "",
      /2 of 299 requests with token counts missed the cache\. Hits would have cost \S+ less\. The main reason: the tools changed\./,
    );
    const marks = await page.locator(".legend li:has(.mark-triangle, .mark-cross)").allTextContents();
    assert.deepEqual(marks, ["missed the cache", "failed, refused or cut short"]);
    for (const [number, reason] of [
      [300, /^Request 300, .*: missed the cache: the system prompt changed, \+\S+$/],
      // 5,000 tokens written at $2.50 a million, where reading them costs $0.20.
      [301, /^Request 301, .*: missed the cache: the tools changed, \+\$0\.0115$/],
      [306, /^Request 306, .*: failed \(529\)$/],
      [308, /^Request 308, [^:]*:\d\d:\d\d\s[AP]M$/],
    ] as const) {
      const over = page.locator(".chart .area");
      await over.scrollIntoViewIfNeeded();
      const box = await over.boundingBox();
      assert.ok(box !== null);
      // A slot for each of 300 requests, and room for a tenth of one at each end.
      await page.mouse.move(box.x + (box.width * (number - 11 + 0.6)) / 300.2, box.y + box.height / 2);
      await page.waitForSelector(`.chart .title:has-text("Request ${number}")`);
      assert.match((await page.textContent(".chart .title span")) ?? "", reason);
    }
    assert.deepEqual(problems, []);
  },
);
