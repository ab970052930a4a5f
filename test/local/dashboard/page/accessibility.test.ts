import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords, variedRecords } from "../../../helpers/client/dashboard.ts";

const skip = noBrowser;

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
          ["overview?", ".table"],
          ["overview?by=model&compare=before&", ".beside"],
          ["overview?compare=two&", ".beside"],
          ["requests?", ".table"],
          ["sessions?", ".table"],
          ["sessions?session=session-1&", ".table"],
          ["live?", ".live tbody tr"],
          ["health?", ".part"],
        ] as const) {
          await page.goto("about:blank");
          await page.goto(`${daemon.url}/#/${view}since=7d`);
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
