import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords } from "../../../helpers/client/dashboard.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Two models, on three days. Each has a request of a dollar; of one, a response was cut short before its last count, so that it costs $2 at least. */
function records() {
  const now = aMinuteAgoToday();
  return [0, 1, 2].flatMap((before) =>
    [
      { model: "claude-sonnet-5", output: 100_000 },
      { model: "claude-sonnet-5", output: 100_000, outcome: "cut", usage: "partial" },
      { model: "claude-haiku-4-5", output: 200_000 },
    ].map(({ output, ...changes }, at) =>
      usageRecord({
        ...(changes as Parameters<typeof usageRecord>[0]),
        ts: new Date(now - before * DAY_MS + at).toISOString(),
        session: `session-${before}`,
        upstream: "default",
        tokens: tokens({ output }),
      }),
    ),
  );
}

test("≥ stands at a cost that is at least that wherever it is shown", { skip: noBrowser }, async (t) => {
  const daemon = await startWithRecords(t, records());
  const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
  const show = async (query: string) => {
    await page.goto("about:blank");
    await page.goto(`${daemon.url}/#/${query}`);
    await page.waitForSelector("tbody tr");
  };
  const textsOf = (selector: string) => page.locator(selector).allTextContents();

  await show("overview?since=today&by=model");
  assert.deepEqual(await textsOf('tbody [data-column="cost"], tfoot [data-column="cost"]'), [
    "≥$2.00",
    "$1.00",
    "≥$3.00",
  ]);
  assert.deepEqual(await textsOf(".legend li"), [
    "claude-sonnet-5≥$2.00",
    "claude-haiku-4-5$1.00",
    "yesterday by this time≥$3.00",
  ]);
  assert.match(
    (await textsOf(".standing .card"))[0] ?? "",
    /^Today≥\$3\.000% on yesterday by this time \(≥\$3\.00\); all of yesterday ≥\$3\.00/,
  );

  // What the pointer and the arrow keys are at has it, too, here today.
  await show("overview?since=7d&by=model");
  const plot = page.locator(".plot");
  await plot.locator("svg").waitFor();
  await plot.press("End");
  assert.match(
    (await plot.getAttribute("aria-valuetext")) ?? "",
    /: ≥\$3\.00\. claude-sonnet-5 ≥\$2\.00, claude-haiku-4-5 \$1\.00$/,
  );
  assert.match((await textsOf(".chart .title span"))[0] ?? "", /: ≥\$3\.00$/);
  assert.deepEqual(await textsOf(".legend .value"), ["≥$2.00", "$1.00"]);

  await show("overview?since=today&by=model&compare=before");
  assert.deepEqual(await textsOf('.beside tbody [data-column="before"]'), ["≥$2.00", "$1.00"]);

  await show("overview?since=today&by=model&compare=two");
  assert.deepEqual(await textsOf(".beside tbody:nth-of-type(1) tr:nth-child(2) td"), [
    "≥$1.00",
    "$1.00",
    "about as much",
  ]);

  await show("sessions?since=7d&session=session-0");
  assert.deepEqual(await textsOf('.of-session tbody [data-column="cost so far"]'), [
    "≥$3.00",
    "≥$2.00",
    "$1.00",
  ]);
  assert.deepEqual(problems, []);
});
