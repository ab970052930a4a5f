import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { servePage } from "../../../helpers/client/served-page.ts";

/** Eighths of a pixel, which rows of text leave over. */
const HEIGHTS = Array.from({ length: 8 }, (_, at) => 40 + at / 8);

for (const deviceScaleFactor of [1, 1.25, 2])
  test(
    `what has nothing beyond its edges shows no shadow, whatever its height, at ${deviceScaleFactor} pixels`,
    { skip: noBrowser },
    async (t) => {
      const { url } = await servePage(t);
      const { page } = await openChromium(t, {
        deviceScaleFactor,
        colorScheme: "light",
        viewport: { width: 600, height: 800 },
      });
      await page.goto(url);
      await page.waitForSelector("main");
      // The boxes are white, and the page around them is not.
      await page.evaluate('document.documentElement.style.background = "white"');
      await page.evaluate(`document.body.replaceChildren(...${JSON.stringify(HEIGHTS)}.map((height) => {
        const box = document.createElement("div");
        box.className = "table";
        box.style.height = height + "px";
        return box;
      }))`);
      const picture = (await page.screenshot()).toString("base64");
      const darkest = await page.evaluate(`(async () => {
        const image = new Image();
        image.src = "data:image/png;base64,${picture}";
        await image.decode();
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [image.width, image.height];
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, image.width, image.height);
        return data.reduce((least, value) => Math.min(least, value), 255);
      })()`);
      // The paper is white. Gradients are dithered by a level or two, which is not seen.
      assert.ok(Number(darkest) >= 253, String(darkest));
    },
  );
