import assert from "node:assert/strict";
import { test } from "node:test";
import { findContradiction } from "../../../../src/core/ledger/verify/contradictions.ts";
import { extraTokens, tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const DAY = "2026-11-21";
const find = (changes: object) => findContradiction({ ...usageRecord(), ...changes }, DAY);

const set = tokens({ input_uncached: 10, cache_read: 3, cache_write: 2, output: 5, reasoning: 5 });
const absent = { usage: "absent", tokens: null, spend: "never" };
const cut = { outcome: "cut", cut_by: "client" };

/** By name, so that a failure says which. */
const CONTRADICTIONS: Record<string, [changes: object, what: string]> = {
  "the day before": [
    { ts: "2026-11-20T23:59:59.999Z" },
    "ts is of 2026-11-20, so reports on that day alone miss it",
  ],
  "another format of time": [
    { ts: "2026-11-21T12:00:00+01:00" },
    'ts "2026-11-21T12:00:00+01:00" is not a time',
  ],
  "a time that does not exist": [
    { ts: "2026-11-21T24:00:00.000Z" },
    'ts "2026-11-21T24:00:00.000Z" is not a time',
  ],
  outcome: [{ outcome: "done" }, 'outcome "done" is not one of the known ones'],
  usage: [{ usage: "estimated" }, 'usage "estimated" is not one of the known ones'],
  spend: [{ spend: "twice" }, 'spend "twice" is not one of the known ones'],
  "input total": [
    { tokens: { ...set, input_total: 14 } },
    "input_total is 14, but input_uncached + cache_read + cache_write is 15",
  ],
  total: [{ tokens: { ...set, total: 21 } }, "total is 21, but input_total + output is 20"],
  "no total": [{ tokens: { ...set, total: undefined } }, "total is missing, but input_total + output is 20"],
  reasoning: [{ tokens: { ...set, reasoning: 6 } }, "reasoning is 6, more than the output of 5"],
  lifetimes: [{ tokens: { ...set, cache_write_1h: 1 } }, "cache_write is 2, but the five cache_write_* is 3"],
  "a negative lifetime": [
    { tokens: { ...set, cache_write_1h: -1, cache_write_5m: 3 } },
    "cache_write_1h is not a count",
  ],
  extra: [
    { extra: [{ ...extraTokens({ type: "compaction", model: null, billable: true }), cache_write_30m: 1 }] },
    'extra of "compaction": cache_write is 0, but the five cache_write_* is 1',
  ],
  "a miss of which it is not known who says so": [
    { miss: "tools_changed" },
    'miss is "tools_changed", miss_by null, and miss_tokens null',
  ],
  "who says so without a miss": [{ miss_by: "said" }, 'miss is null, miss_by "said", and miss_tokens null'],
  "tokens without a miss": [{ miss_tokens: 5 }, "miss is null, miss_by null, and miss_tokens 5"],
  "a guess": [
    { miss: "parallel", miss_by: "guessed" as "said" },
    'miss_by "guessed" is not one of the known ones',
  ],
  "a smallest prompt that is larger": [
    { tokens: set, smallest_prompt: 9, largest_prompt: 8 },
    "smallest_prompt is 9, more than the largest_prompt of 8",
  ],
  "a prompt that is larger than all": [
    { tokens: set, smallest_prompt: 1, largest_prompt: 16 },
    "largest_prompt is 16, more than the input of 15",
  ],
  "a largest prompt alone": [
    { tokens: set, largest_prompt: 8 },
    "smallest_prompt is null, largest_prompt 8, and the input 15",
  ],
  "prompts without tokens": [
    { ...absent, smallest_prompt: 1, largest_prompt: 8 },
    "smallest_prompt is 1, largest_prompt 8, and the input null",
  ],
  "prompts of an extra set": [
    {
      extra: [
        extraTokens({
          type: "batch",
          model: "m",
          billable: true,
          input_uncached: 7,
          smallest_prompt: 2,
          largest_prompt: 8,
        }),
      ],
    },
    'extra of "batch": largest_prompt is 8, more than the input of 7',
  ],
  "final without tokens": [{ tokens: null }, "usage is final, but there are no tokens"],
  "absent with tokens": [{ usage: "absent" }, "usage is absent, but there are tokens"],
  "rejected with tokens": [
    { outcome: "rejected" },
    "outcome is rejected, so nothing was sent, but there are tokens",
  ],
  "pending that counts": [{ usage: "pending", tokens: null }, "usage is pending, but spend is count"],
  "billed without usage": [
    { usage: "absent", tokens: null, billed_usd: "0.1" },
    "usage is absent, but there is a billed_usd",
  ],
  "cut, without a side that ended it": [{ outcome: "cut" }, "outcome is cut, but cut_by is null"],
  "cut by someone unknown": [
    { outcome: "cut", cut_by: "gremlin" },
    'cut_by "gremlin" is not one of the known ones',
  ],
  "cut, but completed": [{ cut_by: "client" }, 'outcome is completed, but cut_by is "client"'],
  "a negative duration": [{ duration_ms: -0.1 }, "duration_ms is -0.1"],
  "no duration": [{ duration_ms: undefined }, "duration_ms is missing"],
  "a negative time to the first token": [{ ttft_ms: -1 }, "ttft_ms is -1"],
  "a first token after the end": [{ ttft_ms: 900.1 }, "ttft_ms is 900.1, more than the duration_ms of 900"],
  "half a byte": [{ bytes_in: 0.5 }, "bytes_in is 0.5"],
  "bytes as text": [{ bytes_out: "5" }, 'bytes_out is "5"'],
  status: [{ status: 42 }, "status 42 is not one of HTTP"],
  "an attempt at itself": [{ id: "x", attempt_of: "x" }, "attempt_of is its own id"],
};

for (const [name, [changes, what]] of Object.entries(CONTRADICTIONS))
  test(`a record contradicts itself: ${name}`, () => assert.equal(find(changes), what));

test("a contradiction shows no more of a value than its start", () => {
  const what = find({ outcome: "x".repeat(1000) });
  assert.equal(what, `outcome "${"x".repeat(79)}… is not one of the known ones`);
});

test("a record that is as docs/ledger.md says contradicts nothing", () => {
  const fine = [
    {},
    {
      tokens: set,
      extra: [extraTokens({ type: "compaction", model: null, billable: true, cache_write: 4 })],
    },
    { tokens: tokens({ output: 5, reasoning: null }), billed_usd: "0.5" },
    { ...absent, ...cut, status: null, ttft_ms: null },
    { ...absent, outcome: "rejected", status: 503, ttft_ms: null, duration_ms: 0 },
    { usage: "partial", ...cut, ttft_ms: 900 },
    { usage: "pending", tokens: null, spend: "attach_by_response_id", outcome: "queued" },
    { usage: "none", tokens: null, spend: "never", route: "/models", method: "GET" },
    { attempt_of: "another" },
  ];
  for (const changes of fine) assert.equal(find(changes), null, JSON.stringify(changes));
});
