import { after, type TestContext } from "node:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { launchChromium, openPageIn, type OpenedPage } from "./launch-chromium.ts";

/** One for all tests of the file: its start takes a second of processor time. */
let shared: Promise<Browser> | null = null;

after(async () => {
  const browser = await shared?.catch(() => null);
  await browser?.close();
});

/**
 * Opens an empty page in a real Chromium. It shares no cookies, storage or cache with the other pages of the test file, and is closed
 * with the test. Skip the test where there is no browser (`noBrowser`).
 */
export async function openChromium(t: TestContext, options: BrowserContextOptions = {}): Promise<OpenedPage> {
  shared ??= launchChromium();
  const opened = await openPageIn(await shared, options);
  t.after(() => opened.page.context().close());
  return opened;
}
