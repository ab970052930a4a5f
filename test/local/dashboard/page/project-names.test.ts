import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startWithRecords } from "../../../helpers/client/dashboard.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const PROJECTS = ["/home/ana/src/shop", "/home/ana/client/shop", "/home/ana/src/notes"];
const NAMES = ["client/shop", "notes", "src/shop"];

test("a project has the same name in every view", { skip: noBrowser }, async (t) => {
  const now = aMinuteAgoToday();
  const records = PROJECTS.map((project, at) =>
    usageRecord({
      ts: new Date(now + at).toISOString(),
      project,
      session: `session-${at}`,
      model: "claude-sonnet-5",
      upstream: "default",
      tokens: tokens({ output: 100_000 * (at + 1) }),
    }),
  );
  const daemon = await startWithRecords(t, records);
  const { page, problems } = await openChromium(t, { timezoneId: "UTC" });
  const namesAt = async (view: string, selector: string) => {
    await page.goto(`${daemon.url}/#/${view}`);
    await page.waitForSelector(selector);
    await page.waitForSelector('main[aria-busy="false"]');
    const texts = await page.locator(selector).allTextContents();
    return texts.map((text) => text.trim()).toSorted();
  };
  assert.deepEqual(await namesAt("overview?by=project", ".sums tbody th .link"), NAMES);
  const legend = await namesAt("overview?by=project", ".legend li");
  assert.deepEqual(
    legend.map((text) => text.replace(/\$.*/, "")),
    NAMES,
  );
  assert.deepEqual(await namesAt("overview?by=project&compare=before", ".beside tbody th .link"), NAMES);
  assert.deepEqual(
    await namesAt("overview?by=project&compare=two", ".beside thead th[scope]:not(:last-child)"),
    ["notes", "client/shop"].toSorted(),
  );
  assert.deepEqual(await namesAt("requests", '.requests tbody [data-column="project"]'), NAMES);
  assert.deepEqual(await namesAt("sessions", '.sessions tbody [data-column="project"]'), NAMES);
  // One alone keeps its name.
  const one = encodeURIComponent(PROJECTS[0] ?? "");
  assert.deepEqual(await namesAt(`requests?project=${one}`, '.requests tbody [data-column="project"]'), [
    "src/shop",
  ]);
  assert.deepEqual(await namesAt(`overview?project=${one}`, ".controls .filter"), ["project: src/shop ✕"]);
  assert.deepEqual(problems, []);
});
