/** What the live view shows of requests that run. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { describeRunning, type RunningRequest } from "../../../../src/core/ledger/running-request.ts";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { withResolvers } from "../../../helpers/async/with-resolvers.ts";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { servePage } from "../../../helpers/client/served-page.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const skip = noBrowser;
const ROWS = ".running tbody tr";
const HANGING = "hanging";
const NOW = Date.parse("2026-11-24T12:00:00Z");

/** A request that runs for so many seconds. */
function running(seconds: number, changes: Partial<UsageRecord>) {
  const ts = new Date(NOW - seconds * 1_000).toISOString();
  return describeRunning(usageRecord({ ts, duration_ms: seconds * 1_000, ...changes }));
}

const STREAMING = { model: "rare", ttft_ms: 800, tokens: tokens({ input_uncached: 60_900 }) } as const;
const WAITING = { tokens: null, ttft_ms: null } as const;

/** The newest first, as the feed has them. */
const REQUESTS = [
  running(3, { ...STREAMING, tool: "zed" }),
  running(20, { ...WAITING, tool: "opencode" }),
  running(42, { ...STREAMING, tool: "claude-code" }),
  running(199, { ...WAITING, tool: "codex" }),
];

/** A record of that model whose input cost two dollars a million. */
function pricedRecord(): object {
  const used = tokens({ input_uncached: 1_000 });
  const line = {
    class: "input_uncached",
    model: "rare",
    source: "s",
    count: 1_000,
    usd: "2",
    per: 1_000_000,
  };
  const cost = { amount_usd: "0.002", is_complete: true, is_lower_bound: false, from: "table", missing: [] };
  return {
    ...usageRecord({ model: "rare", tokens: used }),
    cost: { ...cost, lines: [{ ...line, factors: [], amount_usd: "0.002" }] },
  };
}

/** Opens the page, which these requests run on. */
async function open(t: TestContext, requests: readonly RunningRequest[], options: object = {}) {
  const asked: URLSearchParams[] = [];
  const { url, feed } = await servePage(t, (query) => {
    asked.push(query);
    return query.has("model") ? `${JSON.stringify(pricedRecord())}\n` : "";
  });
  const { page, problems } = await openChromium(t, options);
  await page.goto(`${url}/#/live`);
  const live = await feed;
  let beats = 0;
  // Pieces come of all that stream, but of the tool that hangs.
  const beat = () => {
    beats += 1;
    const now = requests.map((one) => {
      if (one.ttft_ms === null) return { ...one, bytes_out: 0 };
      return { ...one, bytes_out: one.tool === HANGING ? 12_000 : 12_000 + beats };
    });
    live.write(`event: running\ndata: ${JSON.stringify({ total: now.length, requests: now })}\n\n`);
  };
  beat();
  const timer = setInterval(beat, 100);
  t.after(() => clearInterval(timer));
  return { page, problems, asked };
}

test(
  "the oldest running request comes first, and what waits long for its first token stands out",
  { skip },
  async (t) => {
    const { page, problems } = await open(t, REQUESTS);
    await page.waitForSelector(`${ROWS} >> nth=3`);
    const cells = (column: number) => page.locator(`${ROWS} > :nth-child(${column})`).allTextContents();
    assert.deepEqual(await cells(2), ["codex", "claude-code", "opencode", "zed"]);
    assert.deepEqual(await cells(8), ["3 min 19 s", "42 s", "20 s", "3 s"]);
    assert.deepEqual(await cells(7), ["", "12 kB", "", "12 kB"]);
    const colours = await page.$$eval(`${ROWS} [data-column="took"]`, (all) =>
      all.map((one) => one.ownerDocument.defaultView?.getComputedStyle(one).color),
    );
    assert.notEqual(colours[0], colours[2]);
    assert.deepEqual(new Set(colours.slice(1)).size, 1);
    assert.match((await page.textContent('.live [role="status"]')) ?? "", /^4 running, ≥\$0\.244 so far/);
    assert.deepEqual(problems, []);
  },
);

for (const [reducedMotion, expected] of [
  ["no-preference", 2],
  ["reduce", 0],
] as const)
  test(
    `${expected} of two streaming requests have a dot that moves, with ${reducedMotion}`,
    { skip },
    async (t) => {
      const { page } = await open(t, REQUESTS, { reducedMotion });
      await page.waitForSelector(`${ROWS} >> nth=3`);
      assert.equal(await page.evaluate("document.getAnimations().length"), expected);
    },
  );

test(
  "a running request costs at least what its input does, by an earlier request of its model, asked for once",
  { skip },
  async (t) => {
    const { page, problems, asked } = await open(t, REQUESTS);
    await page.waitForSelector(`${ROWS}:has-text("zed") td:has-text("≥$0.122")`);
    await page.waitForSelector(`${ROWS}:has-text("claude-code") td:has-text("≥$0.122")`);
    await page.waitForTimeout(500);
    const models = asked.map((query) => query.get("model")).filter((model) => model !== null);
    assert.deepEqual(models, ["rare"]);
    assert.deepEqual(problems, []);
  },
);

test("on a phone, running requests have their tokens, and how long they run", { skip }, async (t) => {
  const { page } = await open(t, REQUESTS, { viewport: { width: 390, height: 844 } });
  const row = page.locator(`${ROWS}:has-text("zed")`);
  await row.waitFor();
  assert.equal(await row.locator('[data-column="tokens in"]').isVisible(), true);
  assert.equal(await row.locator('[data-column="took"]').isVisible(), true);
  assert.ok(((await row.boundingBox())?.height ?? 0) < 70, "two lines");
});

test(
  "without any request, the live view says how to get one, and has nothing to filter",
  { skip },
  async (t) => {
    const { page, problems } = await open(t, []);
    await page.waitForSelector('.empty h2:text-is("Nothing is running")');
    await page.waitForSelector('.empty pre:text-is("tollkeeper connect claude-code")');
    for (const hidden of ['input[type="search"]', 'button:text-is("Hold the list")', "table"])
      assert.equal(await page.locator(`.live ${hidden}`).first().isVisible(), false, hidden);
    assert.match((await page.textContent('.live [role="status"]')) ?? "", /^0 running/);
    assert.deepEqual(problems, []);
  },
);

test("a stream of which nothing comes says for how long, and the others stream on", { skip }, async (t) => {
  const hanging = running(42, { ...STREAMING, tool: HANGING });
  const { page, problems } = await open(t, [...REQUESTS, hanging]);
  await page.waitForSelector(`${ROWS}:has-text("${HANGING}") td:text-matches("^quiet for \\\\d+ s$")`);
  const states = await page.locator(`${ROWS}:not(:has-text("${HANGING}")) td:last-child`).allTextContents();
  assert.deepEqual(states, ["waiting", "streaming", "waiting", "streaming"]);
  assert.deepEqual(problems, []);
});

test(
  "the last requests have rows to come on a phone while they are read, and what they cost a minute then",
  { skip },
  async (t) => {
    const { promise: read, resolve } = withResolvers<void>();
    const { url } = await servePage(t, () => {
      const ts = new Date(Date.now() - 150_000).toISOString();
      return `${JSON.stringify({ ...pricedRecord(), id: "old", ts })}\n`;
    });
    const { page, problems } = await openChromium(t, { viewport: { width: 390, height: 844 } });
    await page.route("**/_tollkeeper/v1/records*", async (route) => {
      await read;
      await route.continue();
    });
    await page.goto(`${url}/#/live`);
    await page.waitForSelector('caption:text-is("Reading the last requests…")');
    const bars = page.locator(".skeleton > div");
    await bars.first().waitFor();
    assert.equal(await bars.count(), 8);
    resolve();
    await page.waitForSelector('caption[data-pace^="$0.000"][data-pace$=" min"]');
    assert.equal(await bars.first().isVisible(), false);
    assert.deepEqual(problems, []);
  },
);
