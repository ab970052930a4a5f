import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startDaemon } from "../../../helpers/daemon/daemon.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { writeKeyFile } from "../../../helpers/keychain/key-file.ts";

const FAILING = '.part:has(h2:text-is("Upstreams"))';
const WELL = '.part:has(h2:text-is("Configuration"))';

test(
  "on a phone, health has a line for what is well, which a tap opens, and all of what is not",
  { skip: noBrowser },
  async (t) => {
    const { config } = writeKeyFile(t, "http://127.0.0.1:9/v1", "some-key");
    const daemon = await startDaemon(t, { config });
    await (await post(daemon, "/t/codex/v1/messages", { model: "m", max_tokens: 5, messages: [] })).text();
    const { page, problems } = await openChromium(t, { viewport: { width: 390, height: 844 } });
    await page.goto(`${daemon.url}/#/health`);
    await page.waitForSelector(`${FAILING} li.failure:visible`);
    const path = page.locator(`${WELL} .path`);
    assert.equal(await path.isVisible(), false);
    await page.click(`${WELL} summary`);
    await path.waitFor();
    // The whole path begins where the other lines do.
    const lefts = await page.$$eval(`${WELL} li`, (all) =>
      all.map((one) => one.getBoundingClientRect().left),
    );
    const text = await path.locator("bdi").boundingBox();
    assert.ok(Math.abs((text?.x ?? 0) - (lefts.at(-1) ?? 0)) < 1, `${text?.x}, ${lefts.join()}`);
    assert.equal(await path.evaluate((one) => one.scrollWidth > one.clientWidth), false);
    // It stays open while the view is renewed.
    await page.evaluate("document.querySelector('.verdict-line').remove()");
    await page.click('button:has-text("Theme")');
    await page.waitForSelector(".verdict-line");
    assert.equal(await path.isVisible(), true);
    await page.setViewportSize({ width: 1_000, height: 844 });
    await page.reload();
    await path.waitFor();
    assert.equal(await page.locator("details").count(), 0);
    assert.deepEqual(problems, []);
  },
);

test(
  "upstreams that were not asked are a line; a command breaks before its options only, and its button is as high as a finger needs",
  { skip: noBrowser },
  async (t) => {
    const { config } = writeKeyFile(t, "http://127.0.0.1:9/v1", "some-key");
    const { default: one } = config.upstreams as { default: object };
    const daemon = await startDaemon(t, { config: { ...config, upstreams: { default: one, other: one } } });
    const { page, problems } = await openChromium(t, { viewport: { width: 390, height: 844 } });
    await page.goto(`${daemon.url}/#/health`);
    const summary = page.locator(`${FAILING} summary`);
    await summary.waitFor();
    assert.equal(await summary.textContent(), "2 upstreams, none asked yet");
    const name = page.locator(`${FAILING} li`).first();
    assert.equal(await name.isVisible(), false);
    await summary.click();
    await name.waitFor();
    const command = page.locator('.part:has(h2:text-is("Budgets")) code');
    assert.equal(await command.textContent(), "tollkeeper budget set --all --usd 20 --per day");
    assert.deepEqual(await command.locator(".option").allTextContents(), [
      "tollkeeper budget set",
      "--all",
      "--usd 20",
      "--per day",
    ]);
    for (const height of await command
      .locator(".option")
      .evaluateAll((all) => all.map((piece) => piece.getBoundingClientRect().height)))
      assert.ok(height < 30, "one line");
    const button = await page.locator('.part button:text-is("Copy")').boundingBox();
    assert.ok(button !== null && button.height >= 32, `${button?.height}`);
    assert.deepEqual(problems, []);
  },
);
