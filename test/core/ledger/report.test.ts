import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { summarise, type Grouping, type Row } from "../../../src/core/ledger/report.ts";
import { extraTokens, tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

/** The sums that differ from zero (or, for reasoning, from unknown), by row name; `total` beside them. */
async function sumsOf(records: UsageRecord[], by: Grouping = "tool"): Promise<Record<string, Partial<Row>>> {
  const { rows, total } = await summarise(records, by);
  const named = rows.map((row) => [String(row.name), filled(row)] as const);
  return Object.fromEntries([...named, ["total", filled(total)]]);
}

function filled(row: Row): Partial<Row> {
  return Object.fromEntries(Object.entries(row).filter(([, sum]) => typeof sum === "number" && sum !== 0));
}

const noTokens = { usage: "absent", tokens: null, spend: "never" } as const;
const usual = { requests: 1, input_uncached: 10, output: 5 };

test("token classes are summed apart, per tool and in total", async () => {
  const records = [
    usageRecord({ tokens: tokens({ input_uncached: 1, cache_read: 20, cache_write: 300, output: 4000 }) }),
    usageRecord({ tokens: tokens({ input_uncached: 2, cache_read: 30, output: 5000, reasoning: 7 }) }),
    usageRecord({ tool: "opencode" }),
  ];
  const codex = {
    requests: 2,
    input_uncached: 3,
    cache_read: 50,
    cache_write: 300,
    output: 9000,
    reasoning: 7,
  };
  assert.deepEqual(await sumsOf(records), {
    codex,
    opencode: usual,
    total: { ...codex, requests: 3, input_uncached: 13, output: 9005 },
  });
});

test("rows can stand for models, days, sessions, projects and keys", async () => {
  const records = [
    usageRecord({ model: "m1", session: "s1", project: "/p1", key: "k1", ts: "2026-11-20T23:59:59.999Z" }),
    usageRecord({ model: "m2", session: null, key: "k2", ts: "2026-11-21T00:00:00.000Z" }),
  ];
  const names = async (by: Grouping) => (await summarise(records, by)).rows.map(({ name }) => name);
  assert.deepEqual(await names("model"), ["m1", "m2"]);
  assert.deepEqual(await names("day"), ["2026-11-20", "2026-11-21"]);
  assert.deepEqual(await names("session"), [null, "s1"]);
  assert.deepEqual(await names("project"), [null, "/p1"]);
  assert.deepEqual(await names("key"), ["k1", "k2"]);
});

test("a request whose answer names no model goes under the model asked for", async () => {
  const records = [usageRecord({ model: null, model_requested: "asked" })];
  assert.deepEqual(Object.keys(await sumsOf(records, "model")), ["asked", "total"]);
});

test("days stand in order, other rows by their tokens, most first", async () => {
  const records = [
    usageRecord({ tool: "small", ts: "2026-11-20T00:00:00.000Z" }),
    usageRecord({ tool: "large", ts: "2026-11-21T00:00:00.000Z", tokens: tokens({ cache_read: 1000 }) }),
  ];
  const names = async (by: Grouping) => (await summarise(records, by)).rows.map(({ name }) => name);
  assert.deepEqual(await names("tool"), ["large", "small"]);
  assert.deepEqual(await names("day"), ["2026-11-20", "2026-11-21"]);
});

test("partial usage is summed and counted as partial", async () => {
  const records = [usageRecord({ usage: "partial", outcome: "cut" }), usageRecord()];
  assert.deepEqual((await sumsOf(records))["total"], {
    requests: 2,
    input_uncached: 20,
    output: 10,
    partial: 1,
  });
});

for (const [what, changes] of Object.entries({
  "an answer that was cut": { outcome: "cut", cut_by: "client" },
  "a request whose client left before the answer": { outcome: "cut", status: null },
  "a whole answer that gave none": { outcome: "completed" },
  "an error inside a stream": { outcome: "error", status: 200 },
  "a response that failed": { outcome: "failed" },
} as const)) {
  test(`usage that is unknown after ${what} counts as absent`, async () => {
    const { total } = await sumsOf([usageRecord({ ...noTokens, ...changes })]);
    assert.deepEqual(total, { requests: 1, absent: 1 });
  });
}

for (const [what, changes] of Object.entries({
  "a refusal of tollkeeper's": { outcome: "rejected", status: 503 },
  "an error answer of the service's": { outcome: "error", status: 429 },
} as const)) {
  test(`${what} is no request that spent, and is counted as failed`, async () => {
    const sums = await sumsOf([usageRecord({ ...noTokens, ...changes }), usageRecord()]);
    assert.deepEqual(sums["codex"], { ...usual, failed: 1 });
    assert.deepEqual(sums["total"], { ...usual, failed: 1 });
  });
}

test("an error answer that does carry usage is counted with it", async () => {
  assert.deepEqual(await sumsOf([usageRecord({ outcome: "error", status: 500 })]), {
    codex: usual,
    total: usual,
  });
});

test("the model list and token counting are no requests, whatever became of them", async () => {
  const free = { usage: "none", spend: "never", tokens: null } as const;
  const records = [
    usageRecord({ ...free, route: "/models", method: "GET" }),
    usageRecord({ ...free, route: "/messages/count_tokens" }),
    usageRecord({ ...free, route: "/models", method: "GET", outcome: "error", status: 401 }),
  ];
  assert.deepEqual(await sumsOf(records), { total: {} });
});

test("a route that spends without saying how much is absent", async () => {
  const records = [usageRecord({ usage: "none", tokens: null, route: "/embeddings" })];
  assert.deepEqual((await sumsOf(records))["total"], { requests: 1, absent: 1 });
});

test("a switched-on route that always spends counts, with an id in its path too", async () => {
  const sums = await sumsOf([usageRecord({ route: "/threads/{id}/runs" })]);
  assert.deepEqual(sums, { codex: usual, total: usual });
});

const background = {
  spend: "attach_by_response_id",
  response_id: "resp_background",
  usage: "pending",
  tokens: null,
  outcome: "queued",
} as const;
const fetched = { ...background, method: "GET", route: "/responses/{id}", tool: "poller" } as const;
const done = {
  usage: "final",
  outcome: "completed",
  tokens: tokens({ input_uncached: 70, output: 7 }),
} as const;

test("a background response is counted once, on the tool that created it, with the usage that a fetch brought", async () => {
  const records = [
    usageRecord({ ...background }),
    usageRecord({ ...fetched, outcome: "in_progress" }),
    usageRecord({ ...fetched, ...done, ts: "2026-11-22T08:00:00.000Z" }),
    usageRecord({ ...fetched, ...done, ts: "2026-11-23T08:00:00.000Z" }),
    usageRecord({ ...fetched, ...noTokens, ts: "2026-11-23T09:00:00.000Z", outcome: "cut" }),
  ];
  const expected = { requests: 1, input_uncached: 70, output: 7 };
  assert.deepEqual(await sumsOf(records), { codex: expected, total: expected });
  assert.deepEqual(await sumsOf(records, "day"), { "2026-11-21": expected, total: expected });
});

test("a background response that is still pending is absent", async () => {
  const records = [usageRecord({ ...background }), usageRecord({ ...fetched, outcome: "in_progress" })];
  const expected = { requests: 1, absent: 1 };
  assert.deepEqual(await sumsOf(records), { codex: expected, total: expected });
});

test("a background response whose creation ended with its usage is not counted again by fetches", async () => {
  const records = [usageRecord({ ...background, ...done }), usageRecord({ ...fetched, ...done })];
  assert.deepEqual((await sumsOf(records))["total"], { requests: 1, input_uncached: 70, output: 7 });
});

test("a background stream that was cut gets its usage from a later fetch of the same response", async () => {
  const records = [usageRecord({ ...background, outcome: "cut" }), usageRecord({ ...fetched, ...done })];
  assert.deepEqual((await sumsOf(records))["codex"], { requests: 1, input_uncached: 70, output: 7 });
});

test("a background response recorded twice is counted once", async () => {
  const records = [usageRecord({ ...background, ...done }), usageRecord({ ...background, ...done })];
  assert.deepEqual((await sumsOf(records))["total"], { requests: 1, input_uncached: 70, output: 7 });
});

test("fetches of a response that was not created here, failed fetches and cancellations count nothing", async () => {
  const records = [
    usageRecord({ ...fetched, ...done }),
    usageRecord({ ...fetched, ...noTokens, response_id: null, outcome: "error", status: 404 }),
    usageRecord({
      ...fetched,
      ...done,
      method: "POST",
      route: "/responses/{id}/cancel",
      outcome: "cancelled",
    }),
  ];
  assert.deepEqual(await sumsOf(records), { total: {} });
});

test("extra sets that are billed are added to the sums, and by model under their own", async () => {
  const extra = [
    extraTokens({
      type: "advisor_message",
      model: "advisor",
      billable: true,
      input_uncached: 100,
      output: 50,
    }),
    extraTokens({ type: "compaction", model: null, billable: true, cache_read: 9 }),
  ];
  const records = [usageRecord({ extra })];
  assert.deepEqual((await sumsOf(records))["codex"], {
    requests: 1,
    input_uncached: 110,
    cache_read: 9,
    output: 55,
    reasoning_unknown: 1,
  });
  assert.deepEqual(await sumsOf(records, "model"), {
    advisor: { input_uncached: 100, output: 50, reasoning_unknown: 1 },
    "gpt-5": { ...usual, cache_read: 9 },
    total: { requests: 1, input_uncached: 110, cache_read: 9, output: 55, reasoning_unknown: 1 },
  });
});

test("extra sets that may not be billed are summed apart", async () => {
  const declined = { type: "message", model: "declined", billable: null } as const;
  const extra = [
    extraTokens({ ...declined, input_uncached: 1, cache_read: 20, cache_write: 300, output: 4000 }),
  ];
  assert.deepEqual((await sumsOf([usageRecord({ extra })]))["codex"], { ...usual, maybe_unbilled: 4321 });
});

async function reasoningOf(records: UsageRecord[]): Promise<[number | null, number]> {
  const { total } = await summarise(records, "tool");
  return [total.reasoning, total.reasoning_unknown];
}

test("reasoning that was not said makes its sum a lower bound, or unknown, never 0", async () => {
  const silent = usageRecord({ tokens: tokens({ output: 5, reasoning: null }) });
  const speaking = usageRecord({ tokens: tokens({ output: 5, reasoning: 3 }) });
  assert.deepEqual(await reasoningOf([silent]), [null, 1]);
  assert.deepEqual(await reasoningOf([silent, speaking]), [3, 1]);
  assert.deepEqual(await reasoningOf([speaking]), [3, 0]);
  assert.deepEqual(await reasoningOf([usageRecord({ tokens: tokens({ reasoning: null }) })]), [0, 0]);
});

test("records with the same id count once", async () => {
  const record = usageRecord({});
  assert.deepEqual((await sumsOf([record, usageRecord(), record, { ...record }]))["total"], {
    requests: 2,
    input_uncached: 20,
    output: 10,
  });
});
