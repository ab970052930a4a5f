import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { UTC_CALENDAR } from "../../../src/core/ledger/calendar.ts";
import type { Grouping } from "../../../src/core/ledger/grouping.ts";
import type { RecordFilter } from "../../../src/core/ledger/record-filter.ts";
import { summarise, type ReportRow, type UsageReport } from "../../../src/core/ledger/report.ts";
import { isFailure } from "../../../src/core/ledger/spend.ts";
import type { Tally } from "../../../src/core/ledger/tally.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { extraTokens, tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const PRICES = priceBook({});

function report(records: UsageRecord[], by: readonly Grouping[], filter: RecordFilter = {}): UsageReport {
  return summarise(records, { by, calendar: UTC_CALENDAR, prices: PRICES, filter });
}

/** Returns the sums that are not zero (or unknown, for reasoning), by row name, and `total`. */
async function sumsOf(
  records: UsageRecord[],
  by: Grouping = "tool",
): Promise<Record<string, Partial<Tally>>> {
  const { rows, total } = report(records, [by]);
  const named = rows.map((row) => [String(row.names[0]), filled(row)] as const);
  return Object.fromEntries([...named, ["total", filled(total)]]);
}

function filled({ sums }: ReportRow): Partial<Tally> {
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => typeof sum === "number" && sum !== 0));
}

const noTokens = { usage: "absent", tokens: null, spend: "never" } as const;
const usual = { requests: 1, input_uncached: 10, output: 5 };

test("sums each token class separately, per tool and in total", async () => {
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

test("groups rows by any field, and by the hour, day, week and month", async () => {
  const records = [
    usageRecord({ model: "m1", session: "s1", project: "/p1", key: "k1", ts: "2026-11-20T23:59:59.999Z" }),
    usageRecord({ model: "m2", session: null, key: "k2", ts: "2026-11-21T00:00:00.000Z" }),
  ];
  const names = async (by: Grouping) => report(records, [by]).rows.map(({ names: [name] }) => name);
  assert.deepEqual(await names("model"), ["m1", "m2"]);
  assert.deepEqual(await names("day"), ["2026-11-21", "2026-11-20"]);
  assert.deepEqual(await names("hour"), ["2026-11-21 00:00", "2026-11-20 23:00"]);
  assert.deepEqual(await names("week"), ["2026-11-16"]);
  assert.deepEqual(await names("month"), ["2026-11"]);
  assert.deepEqual(await names("upstream"), ["default"]);
  assert.deepEqual(await names("route"), ["/responses"]);
  assert.deepEqual(await names("outcome"), ["completed"]);
  assert.deepEqual(await names("session"), [null, "s1"]);
  assert.deepEqual(await names("project"), [null, "/p1"]);
  assert.deepEqual(await names("key"), ["k1", "k2"]);
});

test("groups rows by the account that paid, and counts the requests of plans", () => {
  const byPlan = { upstream: "plan:claude", key: "plan:claude" };
  const extra = { upstream: "extra:claude", key: "extra:claude/3f2a91c0" };
  const records = [
    usageRecord(),
    usageRecord(extra),
    usageRecord(byPlan),
    usageRecord({ ...byPlan, ...noTokens, spend: "count" }),
    usageRecord({ ...byPlan, ...noTokens, outcome: "error", status: 429 }),
  ];
  const { rows, total } = report(records, ["account"]);
  assert.deepEqual(
    [...rows, total].map(({ names, sums: { requests, plan_requests, extra_requests, failed } }) => [
      names[0],
      requests,
      plan_requests,
      extra_requests,
      failed,
    ]),
    [
      ["extra:claude/3f2a91c0", 1, 0, 1, 0],
      ["key", 1, 0, 0, 0],
      ["plan", 2, 2, 0, 1],
      [undefined, 4, 2, 1, 1],
    ],
  );
});

test("books a request whose response names no model under the requested model", async () => {
  const records = [usageRecord({ model: null, model_requested: "asked" })];
  assert.deepEqual(Object.keys(await sumsOf(records, "model")), ["asked", "total"]);
});

test("sorts times with the latest first, and other rows by cost and then by tokens, most first", async () => {
  const records = [
    usageRecord({ tool: "small", ts: "2026-11-20T00:00:00.000Z" }),
    usageRecord({ tool: "large", ts: "2026-11-21T00:00:00.000Z", tokens: tokens({ cache_read: 1000 }) }),
  ];
  const names = async (by: Grouping) => report(records, [by]).rows.map(({ names: [name] }) => name);
  assert.deepEqual(await names("tool"), ["large", "small"]);
  assert.deepEqual(await names("day"), ["2026-11-21", "2026-11-20"]);
});

test("includes partial usage in the sums, and counts the request as partial", async () => {
  const records = [usageRecord({ usage: "partial", outcome: "cut" }), usageRecord()];
  assert.deepEqual((await sumsOf(records))["total"], {
    requests: 2,
    input_uncached: 20,
    output: 10,
    partial: 1,
    cut: 1,
  });
});

for (const [what, changes] of Object.entries({
  "a truncated response": { outcome: "cut", cut_by: "client" },
  "a client that disconnected before the response": { outcome: "cut", status: null },
  "a complete response without usage": { outcome: "completed" },
  "an error inside a stream": { outcome: "error", status: 200 },
  "a failed response": { outcome: "failed" },
} as const)) {
  test(`counts unknown usage after ${what} as absent`, async () => {
    const { total } = await sumsOf([usageRecord({ ...noTokens, ...changes })]);
    const { outcome } = changes;
    const ending = { ...(outcome === "cut" && { cut: 1 }), ...(isFailure(outcome) && { failed_midway: 1 }) };
    assert.deepEqual(total, { requests: 1, absent: 1, ...ending });
  });
}

for (const [what, changes, refused] of [
  ["a refusal by tollkeeper", { outcome: "rejected", status: 400, error_type: "budget_spent" }, 1],
  [
    "an upstream that is not reached",
    { outcome: "rejected", status: 502, error_type: "upstream_unreachable" },
    0,
  ],
  ["a loop", { outcome: "rejected", status: 508, error_type: "loop_detected" }, 0],
  ["an error response of the service", { outcome: "error", status: 429, error_type: "rate_limit" }, 0],
] as const) {
  test(`counts ${what} as failed, not as a request that spent, and as refused only if tollkeeper refused it`, async () => {
    const sums = await sumsOf([usageRecord({ ...noTokens, ...changes }), usageRecord()]);
    const failed = { failed: 1, ...(refused === 1 && { refused }) };
    assert.deepEqual(sums["codex"], { ...usual, ...failed });
    assert.deepEqual(sums["total"], { ...usual, ...failed });
  });
}

test("counts an error response with usage as a request with that usage", async () => {
  assert.deepEqual(await sumsOf([usageRecord({ outcome: "error", status: 500 })]), {
    codex: { ...usual, failed_midway: 1 },
    total: { ...usual, failed_midway: 1 },
  });
});

test("does not count model lists and token counting as requests, however they ended", async () => {
  const free = { usage: "none", spend: "never", tokens: null } as const;
  const records = [
    usageRecord({ ...free, route: "/models", method: "GET" }),
    usageRecord({ ...free, route: "/messages/count_tokens" }),
    usageRecord({ ...free, route: "/models", method: "GET", outcome: "error", status: 401 }),
  ];
  assert.deepEqual(await sumsOf(records), { total: {} });
});

test("counts a request on a spending route without usage as absent, unless it is paid by number", async () => {
  const records = [
    usageRecord({ usage: "absent", tokens: null, route: "/embeddings" }),
    usageRecord({
      usage: "none",
      tokens: null,
      route: "/images/generations",
      server_tools: { picture: 2 },
    }),
  ];
  assert.deepEqual((await sumsOf(records))["total"], { requests: 2, absent: 1 });
});

test("counts a configured route that always spends, even with an id in its path", async () => {
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

test("counts a background response once, for the tool that created it, with the usage from a fetch", async () => {
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

test("counts a background response that is still pending as absent", async () => {
  const records = [usageRecord({ ...background }), usageRecord({ ...fetched, outcome: "in_progress" })];
  const expected = { requests: 1, absent: 1 };
  assert.deepEqual(await sumsOf(records), { codex: expected, total: expected });
});

test("does not count fetches of a background response whose creation already had its usage", async () => {
  const records = [usageRecord({ ...background, ...done }), usageRecord({ ...fetched, ...done })];
  assert.deepEqual((await sumsOf(records))["total"], { requests: 1, input_uncached: 70, output: 7 });
});

test("takes the usage of a truncated background stream from a later fetch of the same response", async () => {
  const records = [usageRecord({ ...background, outcome: "cut" }), usageRecord({ ...fetched, ...done })];
  assert.deepEqual((await sumsOf(records))["codex"], { requests: 1, input_uncached: 70, output: 7, cut: 1 });
});

test("counts a background response that was recorded twice once", async () => {
  const records = [usageRecord({ ...background, ...done }), usageRecord({ ...background, ...done })];
  assert.deepEqual((await sumsOf(records))["total"], { requests: 1, input_uncached: 70, output: 7 });
});

test("counts nothing for fetches of a response that was created elsewhere, failed fetches and cancellations", async () => {
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

test("adds billed extra sets to the sums, under their own model when grouped by model", async () => {
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

test("sums extra sets that may not be billed separately", async () => {
  const declined = { type: "message", model: "declined", billable: null } as const;
  const extra = [
    extraTokens({ ...declined, input_uncached: 1, cache_read: 20, cache_write: 300, output: 4000 }),
  ];
  assert.deepEqual((await sumsOf([usageRecord({ extra })]))["codex"], { ...usual, maybe_unbilled: 4321 });
});

async function reasoningOf(records: UsageRecord[]): Promise<[number | null, number]> {
  const { total } = report(records, ["tool"]);
  return [total.sums.reasoning, total.sums.reasoning_unknown];
}

test("makes the reasoning sum a lower bound or unknown, never 0, when a response does not report it", async () => {
  const silent = usageRecord({ tokens: tokens({ output: 5, reasoning: null }) });
  const reporting = usageRecord({ tokens: tokens({ output: 5, reasoning: 3 }) });
  assert.deepEqual(await reasoningOf([silent]), [null, 1]);
  assert.deepEqual(await reasoningOf([silent, reporting]), [3, 1]);
  assert.deepEqual(await reasoningOf([reporting]), [3, 0]);
  assert.deepEqual(await reasoningOf([usageRecord({ tokens: tokens({ reasoning: null }) })]), [0, 0]);
});

test("counts records with the same id once", async () => {
  const record = usageRecord({});
  assert.deepEqual((await sumsOf([record, usageRecord(), record, { ...record }]))["total"], {
    requests: 2,
    input_uncached: 20,
    output: 10,
  });
});

test("sums requests to the sandbox apart, in no other row or total", async () => {
  const records = [
    usageRecord(),
    usageRecord({ upstream: "sandbox", tokens: tokens({ output: 7 }) }),
    usageRecord({ upstream: "sandbox", tool: "opencode", outcome: "rejected", ...noTokens }),
  ];
  const { rows, total, sandbox } = report(records, ["tool"]);
  assert.deepEqual([rows.map(filled), filled(total)], [[usual], usual]);
  assert.deepEqual(filled(sandbox.total), { requests: 1, failed: 1, refused: 1, output: 7 });
  assert.deepEqual(
    sandbox.rows.map(({ names: [name] }) => name),
    ["codex", "opencode"],
  );
});

/** A record of a day in November. */
function on(day: string, tool: string, output: number, changes: Partial<UsageRecord> = {}): UsageRecord {
  return usageRecord({ ts: `2026-11-${day}T12:00:00.000Z`, tool, tokens: tokens({ output }), ...changes });
}

test("with two groupings the rows of one name stand together, and each grouping has its order", async () => {
  const records = [
    on("19", "codex", 5),
    on("20", "codex", 7),
    on("20", "zed", 50),
    on("21", "zed", 1, {
      extra: [extraTokens({ type: "message", model: "m2", output: 30, billable: true })],
    }),
    on("21", "codex", 1),
  ];
  const rows = async (...by: Grouping[]) =>
    report(records, by).rows.map(({ names, sums }) => [...names, sums.output]);
  assert.deepEqual(await rows("tool", "day"), [
    ["zed", "2026-11-21", 31],
    ["zed", "2026-11-20", 50],
    ["codex", "2026-11-21", 1],
    ["codex", "2026-11-20", 7],
    ["codex", "2026-11-19", 5],
  ]);
  assert.deepEqual(await rows("day", "tool"), [
    ["2026-11-21", "zed", 31],
    ["2026-11-21", "codex", 1],
    ["2026-11-20", "zed", 50],
    ["2026-11-20", "codex", 7],
    ["2026-11-19", "codex", 5],
  ]);
  assert.deepEqual(await rows("tool", "model"), [
    ["zed", "gpt-5", 51],
    ["zed", "m2", 30],
    ["codex", "gpt-5", 13],
  ]);
});

test("a filter leaves out what does not match, with * for any characters", async () => {
  const records = [
    usageRecord({ tool: "codex", project: "/home/u/one", upstream: "a" }),
    usageRecord({ tool: "claude-code", model: "claude-sonnet-5", session: null }),
    usageRecord({ tool: "codex", outcome: "rejected", status: 400, ...noTokens }),
  ];
  const count = async (filter: RecordFilter) => {
    const { total } = report(records, ["tool"], filter);
    return [total.sums.requests, total.sums.failed];
  };
  assert.deepEqual(await count({}), [2, 1]);
  assert.deepEqual(await count({ tool: "codex" }), [1, 1]);
  assert.deepEqual(await count({ tool: "c*", model: "claude-*" }), [1, 0]);
  assert.deepEqual(await count({ project: "*/one" }), [1, 0]);
  assert.deepEqual(await count({ session: "*" }), [1, 1], "nothing matches what is unknown");
  assert.deepEqual(await count({ upstream: "b" }), [0, 0]);
});

test("a row costs what its tokens cost, those of another model under that model", async () => {
  const records = [
    // 1 million at 1.25, and the advisor's at 5.
    usageRecord({
      tokens: tokens({ input_uncached: 1_000_000 }),
      extra: [
        extraTokens({
          type: "advisor_message",
          model: "claude-opus-4-8",
          billable: true,
          input_uncached: 1e6,
        }),
        extraTokens({ type: "message", model: "claude-opus-4-8", billable: null, input_uncached: 1e6 }),
      ],
    }),
    usageRecord({ billed_usd: "0.5" }),
    usageRecord({ ...noTokens, outcome: "cut" }),
    usageRecord({ ...noTokens, outcome: "error", status: 429 }),
  ];
  const costs = async (by: Grouping) => {
    const { rows, total } = report(records, [by]);
    return [...rows, total].map(({ names: [name = "total"], cost }) => [
      name,
      formatMoney(cost.amount),
      cost.isExact,
    ]);
  };
  assert.deepEqual(await costs("tool"), [
    ["codex", "6.75", false],
    ["total", "6.75", false],
  ]);
  assert.deepEqual(await costs("model"), [
    ["claude-opus-4-8", "5", true],
    ["gpt-5", "1.75", false],
    ["total", "6.75", false],
  ]);
});

test("further attempts at a request are counted, whether they spent or not", async () => {
  const attempt_of = "first";
  const records = [
    usageRecord({ id: "first", ...noTokens, outcome: "error", status: 503 }),
    usageRecord({ attempt_of, ...noTokens, outcome: "error", status: 503 }),
    usageRecord({ attempt_of }),
  ];
  assert.deepEqual((await sumsOf(records))["total"], { ...usual, failed: 2, retries: 2 });
});
