import assert from "node:assert/strict";
import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { RecordFeed } from "../../src/daemon/record-feed.ts";
import { Statusline } from "../../src/daemon/statusline.ts";
import { passTimeUntil } from "../helpers/async/hold-time.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { startLedger } from "../helpers/ledger/ledger.ts";
import { tokens, usageRecord } from "../helpers/ledger/usage-record.ts";

const WINDOW = { state: "seen", limit: null, remaining: null, resetsAt: null, seenAt: "2026-11-21" } as const;
const LIMITS = [
  {
    account: "anthropic",
    windows: [
      { ...WINDOW, window: "5h", usedPercent: 62.4 },
      { ...WINDOW, window: "7d", usedPercent: 31 },
      { ...WINDOW, window: "requests", usedPercent: 90, state: "reset" as const },
    ],
  },
  { account: "work/ci", windows: [{ ...WINDOW, window: "requests", usedPercent: 70 }] },
  { account: "other", windows: [{ ...WINDOW, window: "retry", usedPercent: null }] },
];

const UPSTREAM = { baseUrl: "https://api.openai.com/v1", auth: "bearer", prices: {}, discount: 0 } as const;

function start(t: TestContext, { written = 0 } = {}) {
  const { ledger: file, directory, clock, log } = startLedger(t);
  for (let count = 0; count < written; count += 1) file.append([usageRecord()]);
  const feed = new RecordFeed();
  const ledger = feed.publishing(file);
  let read = 0;
  const upstreams = {
    default: { ...UPSTREAM, name: "default" },
    unused: { ...UPSTREAM, name: "unused" },
  };
  const statusline = new Statusline({
    feed,
    clock,
    log,
    ledger: {
      ...ledger,
      mark: () => {
        read += 1;
        return file.mark();
      },
    },
    budgets: { percentFor: (tool) => (tool === null ? 7 : 82) },
    failing: () => ["default", "other"],
    limits: { describe: () => LIMITS },
    pauses: { nameFor: (tool) => (tool === null ? "codex, everything" : "everything") },
    source: { current: () => ({ prices: {}, priceTable: null, upstreams }) as never },
  });
  /** Resolves once the ledger has been read. */
  const whole = () =>
    waitUntil("the ledger has been read", async () =>
      (await statusline.answer(null)).isWhole ? true : null,
    );
  return { ledger, directory, clock, log, statusline, whole, read: () => read };
}

test("a session's line has the budgets and pauses of Claude Code, any other all of them", async (t) => {
  const { statusline } = start(t);
  const answers = await Promise.all([statusline.answer(null), statusline.answer("one")]);
  assert.deepEqual(
    answers.map(({ budgetPercent, failing, paused }) => [budgetPercent, failing, paused]),
    [
      [7, "default, other", "codex, everything"],
      [82, "default, other", "everything"],
    ],
  );
});

test("the line has the fullest limit that was seen, and those of each account, without what has reset", async (t) => {
  const { limit, limits } = await start(t).statusline.answer(null);
  assert.deepEqual([limit, limits], ["requests 70%", "anthropic 5h 62.4%, 7d 31% · work/ci requests 70%"]);
});

test("records from before the start, from during the reading and from after it count once each", async (t) => {
  const { ledger, statusline, whole } = start(t, { written: 2_999 });
  const copied = usageRecord();
  ledger.append([copied]);
  ledger.append([copied]);
  let added = 0;
  await passTimeUntil(whole(), () => {
    ledger.append([usageRecord({ session: "during" })]);
    added += 1;
  });
  assert.ok(added > 0);
  ledger.append([usageRecord({ session: "after" })]);
  const { today, session } = await statusline.answer("during");
  assert.deepEqual([today.requests, session?.requests], [3_000 + added + 1, added]);
  assert.equal((await statusline.answer("after")).session?.requests, 1);
});

test("a daemon that is never asked reads nothing, and one that is asked reads once", async (t) => {
  const { ledger, statusline, whole, read } = start(t);
  ledger.append([usageRecord()]);
  assert.equal(read(), 0);
  await whole();
  await Promise.all([statusline.answer(null), statusline.answer("session-1")]);
  assert.equal(read(), 1);
});

test("a session goes on after a restart, and yesterday's part of it counts", async (t) => {
  const { ledger, clock, statusline, whole } = start(t);
  const counts = tokens({ input_uncached: 1000 });
  ledger.append([usageRecord({ ts: "2026-11-20T12:00:00.000Z", tokens: counts })]);
  ledger.append([usageRecord({ ts: "2026-11-21T12:00:00.000Z", tokens: counts })]);
  clock.wallMs = Date.parse("2026-11-21T12:30:00.000Z");
  await whole();
  const { today, session } = await statusline.answer("session-1");
  assert.deepEqual([today.requests, today.input, session?.requests, session?.input], [1, 1000, 2, 2000]);
});

test("only what decides the prices of the upstreams in the sums is sent", async (t) => {
  const { ledger, statusline, whole } = start(t);
  ledger.append([usageRecord()]);
  ledger.append([usageRecord({ upstream: "removed-since" })]);
  await whole();
  const { prices } = await statusline.answer(null);
  assert.deepEqual(prices, {
    prices: {},
    priceTable: null,
    upstreams: { default: { ...UPSTREAM, name: "default" } },
  });
});

test("a ledger that cannot be read leaves lower bounds, of what was recorded since", async (t) => {
  const { ledger, directory, statusline, log } = start(t, { written: 1 });
  ledger.close();
  rmSync(directory, { recursive: true });
  writeFileSync(directory, "");
  chmodSync(directory, 0o600);
  assert.ok(existsSync(join(directory)));
  const { today, isWhole } = await statusline.answer(null);
  assert.deepEqual([today.requests, isWhole], [0, false]);
  await waitUntil("the log says so", () =>
    JSON.stringify(log).includes("cannot be read for the status line") ? true : null,
  );
  assert.equal((await statusline.answer(null)).isWhole, false);
});

test("a record counts as the ledger keeps it, whatever a client or an upstream says of itself", async (t) => {
  const { ledger, statusline, whole } = start(t);
  await whole();
  const long = "x".repeat(10_000);
  ledger.append([usageRecord({ session: long, model: long })]);
  const { today, session } = await statusline.answer(long);
  assert.deepEqual([today.requests, session?.requests], [1, 1]);
  assert.ok(JSON.stringify({ today, session }).length < 4_000);
});
