import type { Page } from "playwright-core";
import { waitUntil } from "../async/wait-until.ts";

/**
 * Waits until an expression is true in the page. Playwright's `waitForFunction` asks again from within the page, by `eval`, which our
 * pages forbid: it fails wherever the expression is not true at once.
 */
export async function waitInPage(page: Page, expression: string): Promise<void> {
  await waitUntil(expression, async () => ((await page.evaluate(expression)) === true ? true : null));
}
