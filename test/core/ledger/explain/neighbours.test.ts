// What a request is compared with.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Neighbours, rangeOf } from "../../../../src/core/ledger/explain/neighbours.ts";
import { measuresOf } from "../../../../src/core/ledger/explain/usual-requests.ts";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const TS = "2026-11-21T12:00:00.000Z";

const record = usageRecord({ id: "this", ts: TS, project: "/home/ada/shop" });

/** A request a number of hours before. */
function before(hours: number, changes: Partial<UsageRecord> = {}): UsageRecord {
  return usageRecord({ ts: new Date(Date.parse(TS) - hours * 3_600_000).toISOString(), ...changes });
}

function around(others: readonly UsageRecord[], one: UsageRecord = record): Neighbours {
  const neighbours = new Neighbours(one);
  for (const other of others) neighbours.add(other);
  return neighbours;
}

const list = (count: number, make: (at: number) => UsageRecord) =>
  Array.from({ length: count }, (_, at) => make(at));
const usualOf = (others: readonly UsageRecord[], one = record) =>
  around(others, one).usual.medians(() => null);

test("the usual is the median of at least ten requests of the tool and model, in the same project if it has ten", () => {
  const elsewhere = list(12, () => before(1, { project: "/home/ada/blog", duration_ms: 10 }));
  const inShop = list(9, (at) => before(1, { project: "/home/ada/shop", duration_ms: 1000 + at }));
  const few = usualOf([...elsewhere, ...inShop]);
  assert.deepEqual([few.project, few.requests, few.medians?.duration], [null, 21, 10]);
  const enough = usualOf([
    ...elsewhere,
    ...inShop,
    before(1, { project: "/home/ada/shop", duration_ms: 1009 }),
  ]);
  assert.deepEqual([enough.project, enough.requests, enough.medians?.duration], ["/home/ada/shop", 10, 1004]);
  assert.deepEqual(usualOf(inShop), { project: null, requests: 9, medians: null });
});

test("what is not like the request is not compared with it", () => {
  const unlike: Partial<UsageRecord>[] = [
    { tool: "zed" },
    { model: "gpt-5-mini" },
    { upstream: "plan:chatgpt" },
    { upstream: "sandbox" },
    { usage: "partial" },
    { usage: "absent", tokens: null },
    { outcome: "rejected", status: 400, tokens: null, usage: "none" },
    { id: "this" },
  ];
  assert.equal(usualOf(unlike.map((changes) => before(1, changes))).requests, 0);
  assert.equal(usualOf([before(-1), before(0), before(7 * 24 + 1)]).requests, 0);
  assert.equal(usualOf([before(1), before(7 * 24)]).requests, 2);
  const copied = before(1);
  assert.equal(usualOf([copied, copied]).requests, 1);
});

test("of many requests, the latest 500 are compared, and the cost is the median of those that are known", () => {
  const many = list(2000, (at) => before(1, { duration_ms: at }));
  const usual = usualOf(many);
  assert.deepEqual([usual.requests, usual.medians?.duration], [500, 1749]);
  const costs = new Map(many.slice(-500).map(({ id }, at) => [id, at < 3 ? BigInt(at + 5) : null]));
  const { medians } = around(many).usual.medians(({ id }) => costs.get(id) ?? null);
  assert.equal(medians?.cost, 6n);
});

test("a request without tokens or without input has only what is known of it", () => {
  assert.deepEqual(measuresOf({ tokens: null, duration_ms: 5 }, null), {
    cost: null,
    input: null,
    cached: null,
    output: null,
    duration: 5,
  });
  const half = tokens({ input_uncached: 10, cache_read: 30 });
  assert.equal(measuresOf({ tokens: half, duration_ms: 5 }, 1n).cached, 0.75);
  assert.equal(measuresOf({ tokens: tokens({ output: 3 }), duration_ms: 5 }, 1n).cached, null);
});

/** An earlier request that read so many of its 100 tokens from the cache. */
function cached(read: number, changes: Partial<UsageRecord> = {}): UsageRecord {
  return before(1, { tokens: tokens({ input_uncached: 100 - read, cache_read: read }), ...changes });
}

test("the cache before is that of the last eight requests of the same agent, session and model", () => {
  const share = (others: readonly UsageRecord[], one = record) => around(others, one).cache.share();
  const last = cached(96);
  assert.deepEqual(share([cached(0), ...list(7, () => cached(96)), last]), {
    requests: 8,
    read: 768,
    input: 800,
    endedAt: Date.parse(last.ts) + last.duration_ms,
  });
  const unlike = [
    cached(50, { session: "session-2" }),
    cached(50, { agent: "agent-1" }),
    cached(50, { agent_kind: "title" }),
    cached(50, { model: "gpt-5-mini" }),
    cached(50, { tokens: null, usage: "absent" }),
  ];
  assert.equal(share(unlike), null);
  assert.equal(share([cached(50, { session: null })], { ...record, session: null }), null);
});

test("all attempts at a request are found from any of them, and the time between which to look is a week and a day", () => {
  const first = before(0, { id: "first", upstream: "main" });
  const second = before(-0.001, { id: "second", attempt_of: "first" });
  for (const one of [first, second])
    assert.deepEqual(
      around([before(1), second, first], one)
        .attempts()
        .map(({ id }) => id),
      ["first", "second"],
    );
  assert.deepEqual(rangeOf(record), {
    since: Date.parse("2026-11-14T12:00:00Z"),
    until: Date.parse("2026-11-22T12:00:00Z"),
  });
});
