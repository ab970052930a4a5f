import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords, variedRecords } from "../../../helpers/client/dashboard.ts";
import { launchDaemon } from "../../../helpers/daemon/daemon.ts";

const OFFLINE = '[role="alert"]:has-text("To see why, type: tollkeeper doctor")';

test(
  "sessions, health and the record are loaded once, when they are first opened",
  { skip: noBrowser },
  async (t) => {
    const daemon = await startWithRecords(t, variedRecords(60));
    const { page, problems } = await openChromium(t);
    const loaded: string[] = [];
    page.on("request", (req) => {
      const name = /\/dashboard\/(.*)\.js$/.exec(req.url())?.[1];
      if (name !== undefined) loaded.push(name);
    });
    await page.goto(`${daemon.url}/#/overview?since=7d`);
    await page.waitForSelector('main[aria-busy="false"]');
    assert.deepEqual(loaded, ["app"]);
    for (const view of ["sessions", "health", "requests", "sessions"]) {
      await page.click(`nav a:text-is("${view}")`);
      await page.waitForSelector(`nav a[aria-current]:text-is("${view}")`);
      await page.waitForSelector('main[aria-busy="false"]');
    }
    await page.goto(`${daemon.url}/#/requests?since=7d`);
    await page.waitForSelector('caption:text-is("Requests")');
    const [first, second] = [0, 1].map((at) => page.locator("tbody tr:not(.day) th button").nth(at));
    for (const time of [first, second]) {
      await time?.click();
      await page.click("dialog[open] .close");
    }
    assert.deepEqual(loaded, ["app", "sessions", "health", "record"]);
    assert.deepEqual(problems, []);
  },
);

test(
  "a view that cannot be loaded keeps what is shown, says why, and comes with the next daemon",
  { skip: noBrowser },
  async (t) => {
    const daemon = await startWithRecords(t, variedRecords(60));
    const { page } = await openChromium(t);
    await page.goto(`${daemon.url}/#/requests?since=7d`);
    const time = page.locator("tbody tr:not(.day) th button").first();
    await time.waitFor();
    await daemon.stop();
    await page.waitForSelector(OFFLINE);
    await time.click();
    await page.waitForSelector(OFFLINE);
    assert.equal(await page.locator("dialog[open]").count(), 0);
    await page.click('nav a:text-is("sessions")');
    await page.waitForSelector('main[aria-busy="false"]');
    await page.waitForSelector(OFFLINE);
    assert.ok(await time.isVisible());
    const { ready, kill } = launchDaemon(daemon.home, { port: Number(new URL(daemon.url).port) });
    t.after(kill);
    await ready;
    await page.waitForSelector('main[aria-busy="false"] caption:text-is("Sessions")');
    await page.waitForSelector(".problem:empty", { state: "attached" });
  },
);

test(
  "from a record, buttons and keys go to the next one of its list and the one before, and to none beyond it",
  { skip: noBrowser },
  async (t) => {
    const daemon = await startWithRecords(t, variedRecords(12));
    const { page, problems } = await openChromium(t);
    await page.goto(`${daemon.url}/#/requests?since=7d`);
    const buttons = page.locator("tbody [data-record]");
    await buttons.first().waitFor();
    const ids = await buttons.evaluateAll((all) => all.map((one) => one.getAttribute("data-record") ?? ""));
    assert.ok(ids.length > 3 && new Set(ids).size === ids.length);
    const isShown = (at: number) =>
      page.waitForSelector(`dialog[open] pre:has-text("tollkeeper explain ${ids[at] ?? ""}")`);
    await buttons.first().click();
    await isShown(0);
    assert.equal(await page.isDisabled('[aria-label="previous request"]'), true);
    await page.click('[aria-label="next request"]');
    await isShown(1);
    await page.keyboard.press("j");
    await isShown(2);
    await page.keyboard.press("k");
    await isShown(1);
    await page.keyboard.press("ArrowRight");
    await isShown(2);
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "hidden" });
    // It goes on from where the reader has been.
    assert.equal(await page.evaluate("document.activeElement.dataset.record"), ids[2]);
    await buttons.last().click();
    await isShown(ids.length - 1);
    assert.equal(await page.isDisabled('[aria-label="next request"]'), true);
    await page.keyboard.press("j");
    await isShown(ids.length - 1);
    assert.deepEqual(problems, []);
  },
);
