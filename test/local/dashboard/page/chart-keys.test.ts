import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { readTable, startWithRecords } from "../../../helpers/client/dashboard.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";
import { waitInPage } from "../../../helpers/client/wait-in-page.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Noon, so many days ago in UTC. */
function noonBefore(days: number): string {
  return `${new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)}T12:00:00.000Z`;
}

/** A request on each of these days, by a tool of that day. */
function records() {
  return [4, 3, 2].map((days) =>
    usageRecord({
      ts: noonBefore(days),
      tool: `tool-${days}`,
      model: "claude-sonnet-5",
      upstream: "default",
      tokens: tokens({ output: 1_000_000 * days }),
    }),
  );
}

test(
  "keys go from bar to bar, select several and zoom into them, and who hears the page hears each bar",
  { skip: noBrowser },
  async (t) => {
    const daemon = await startWithRecords(t, records());
    const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
    await page.goto(`${daemon.url}/#/overview?since=7d`);
    const slider = page.getByRole("slider", { name: "Cost by day" });
    await slider.and(page.locator("[aria-valuemax='7']")).waitFor();
    // The control before it.
    await page.locator(".controls select").last().focus();
    while (!(await slider.evaluate((one) => one.matches(":focus")))) await page.keyboard.press("Tab");
    assert.equal(await slider.getAttribute("aria-valuenow"), "7");
    // Today is not over.
    assert.match((await slider.getAttribute("aria-valuetext")) ?? "", /, so far: \$0\.00$/);
    await page.waitForSelector('.chart .hint:has-text("Enter zooms in")');
    for (let pressed = 0; pressed < 3; pressed += 1) await page.keyboard.press("ArrowLeft");
    const said = (await slider.getAttribute("aria-valuetext")) ?? "";
    assert.match(said, /: \$30\.00\. tool-3 \$30\.00$/);
    // What is seen is what is heard.
    assert.equal(await page.locator(".chart .title span").textContent(), said.split(". tool")[0]);
    await page.keyboard.press("Home");
    assert.equal(await slider.getAttribute("aria-valuenow"), "1");
    await page.keyboard.press("End");
    for (let pressed = 0; pressed < 2; pressed += 1) await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Shift+ArrowLeft");
    assert.ok(Number((await page.locator(".chart .selection").boundingBox())?.width) > 0);
    await page.keyboard.press("Escape");
    assert.equal((await page.locator(".chart .selection").boundingBox())?.width ?? 0, 0);
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Enter");
    const days = [3, 2].map((before) => noonBefore(before).slice(0, 10));
    await page.waitForURL(new RegExp(`since=${days[0]}&until=${days[1]}`));
    await page.waitForSelector('th:has-text("tool-4")', { state: "detached" });
    assert.deepEqual(Object.keys(await readTable(page)), ["tool-3", "tool-2", "total"]);
    // The chart of the new period has the focus, so that the keys go on there.
    await waitInPage(page, "document.activeElement?.getAttribute('role') === 'slider'");
    await page.goBack();
    await page.waitForSelector('th:has-text("tool-4")');
    assert.deepEqual(problems, []);
  },
);
