import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { CDPSession } from "playwright-core";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { servePage } from "../../../helpers/client/served-page.ts";
import { usageRecord } from "../../../helpers/ledger/usage-record.ts";

/** What the list keeps. */
const MOST_ENDED = 200;
const RECORDS = 10_000;
/** After these the list is full. */
const FIRST = 1_000;
/** Less than half of what the records are as text. What the browser has not cleaned up yet goes up and down by 1 MB. */
const MOST_GROWTH = 3_000_000;

async function heapOf(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  return (await session.send("Runtime.getHeapUsage")).usedSize;
}

test("an hour of requests does not make the page grow", { skip: noBrowser }, async (t) => {
  const { url, feed } = await servePage(t);
  const { page } = await openChromium(t);
  await page.goto(`${url}/#/live`);
  const live = await feed;
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  const send = async (from: number, to: number) => {
    for (let at = from; at <= to; at += 1) {
      const record = usageRecord({ model: `model-${at}` });
      const text = `event: running\ndata: {"total":1,"requests":[]}\n\nevent: entry\ndata: ${JSON.stringify(record)}\n\n`;
      if (!live.write(text)) await once(live, "drain");
    }
    await page.waitForSelector(`.live td:text-is("model-${to}")`);
  };
  await send(1, FIRST);
  const before = await heapOf(session);
  await send(FIRST + 1, RECORDS);
  const grown = (await heapOf(session)) - before;
  assert.ok(grown < MOST_GROWTH, `grew by ${grown} bytes`);
  assert.equal(await page.locator(".live tbody tr:not(.day)").count(), MOST_ENDED);
});
