import assert from "node:assert/strict";
import { test } from "node:test";
import { formatRecord } from "../../../src/core/ledger/format-record.ts";
import { readQuickly } from "../../../src/core/ledger/quick-record.ts";
import { RECORD_FIELD_LIST, type UsageRecord } from "../../../src/core/ledger/record.ts";
import { readRecord } from "../../helpers/ledger/read-record.ts";
import { forSums } from "../../helpers/ledger/summable.ts";
import { extraTokens, tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

/** No member is null or empty, but for `extra`, which is not read quickly. */
const FULL: UsageRecord = usageRecord({
  session: "s",
  agent: "a1b2c3d4e5",
  agent_parent: "a9ce25b5e8a1a2f4c",
  agent_kind: "subagent",
  turn: "82149307-e06a-4b43-a7c3-c006be731b61",
  user_agent: "u",
  process: { pid: 1, executable: "/usr/bin/node", parents: ["bash"] },
  project: "/p",
  branch: "main",
  status: 200,
  model_requested: "m",
  alias: "a",
  stream: true,
  stop: "end_turn",
  error_type: "e",
  response_id: "r",
  model: "m",
  service_tier: "standard",
  speed: "fast",
  inference_geo: "us",
  tokens: {
    ...tokens({ cache_write: 6, reasoning: 0 }),
    cache_write_5m: 1,
    cache_write_1h: 2,
    cache_write_30m: 3,
  },
  server_tools: { web_search: 0 },
  billed_usd: "0",
  raw_usage: {},
  flags: ["bad_json"],
  smallest_prompt: 0,
  largest_prompt: 7,
  miss: "tools_changed",
  miss_by: "said",
  miss_tokens: 5,
  output_file: "file-1",
  attempt_of: "b",
  upstream_request_id: "i",
  cut_by: "client",
  ttft_ms: 0,
});

/** Of a request that never had a response. */
const EMPTY: UsageRecord = usageRecord({
  session: null,
  agent: null,
  agent_parent: null,
  agent_kind: null,
  turn: null,
  user_agent: null,
  process: null,
  project: null,
  branch: null,
  status: null,
  model_requested: null,
  alias: null,
  stream: null,
  stop: null,
  error_type: null,
  response_id: null,
  model: null,
  service_tier: null,
  speed: null,
  inference_geo: null,
  tokens: null,
  extra: [],
  server_tools: {},
  billed_usd: null,
  raw_usage: null,
  flags: [],
  smallest_prompt: null,
  largest_prompt: null,
  miss: null,
  miss_by: null,
  miss_tokens: null,
  output_file: null,
  attempt_of: null,
  upstream_request_id: null,
  cut_by: null,
  ttft_ms: null,
});

const CASES: [what: string, record: UsageRecord][] = [
  ["a record without null or empty members", FULL],
  [
    "a record with extra tokens",
    { ...FULL, extra: [extraTokens({ type: "message", model: null, billable: null })] },
  ],
  ["a record with all of them", EMPTY],
  ["a record whose reasoning and lifetimes are not known", { ...EMPTY, tokens: tokens({ reasoning: null }) }],
];

for (const [what, record] of CASES) {
  test(`${what} is read from its line as it was`, () => {
    const line = formatRecord(record);
    assert.deepEqual(readRecord(line), record);
    const quick = readQuickly(line);
    if (record.extra.length === 0) assert.deepEqual({ ...quick }, forSums(record));
    else assert.equal(quick, null);
  });

  test(`${what} is read from a line of version 1, which has all members, and becomes one of version 2`, () => {
    const line = JSON.stringify({ ...record, v: 1 });
    assert.deepEqual(readRecord(line), record);
    const quick = readQuickly(line);
    if (record.extra.length === 0) assert.deepEqual({ ...quick }, forSums(record));
  });
}

test("a line has no null, no empty member and no lifetime without cache writes, in the order of version 1", () => {
  const names = Object.keys(JSON.parse(formatRecord(EMPTY)) as object);
  assert.deepEqual(
    names.join(" "),
    "v id ts tool tool_by key upstream route method outcome usage spend duration_ms bytes_in bytes_out",
  );
  const { tokens: counts } = JSON.parse(formatRecord(FULL)) as { tokens: object };
  assert.deepEqual(
    Object.keys(counts).join(" "),
    "input_uncached cache_read cache_write cache_write_5m cache_write_1h cache_write_30m output input_total reasoning total",
  );
});

test("a line has its fields in the order of their description", () => {
  const counts = {
    output_estimate: 1,
    reserved_input: 2,
    reserved_output: 3,
    reserved_class: "cache_write_1h",
    reserved_tier: "priority",
    reserved_speed: "fast",
    reserved_geo: "us",
  } as const;
  const names = Object.keys(JSON.parse(formatRecord({ ...FULL, ...counts, traceparent: "t" })) as object);
  const described = RECORD_FIELD_LIST.map(({ name }) => name).filter((name) => name !== "extra");
  assert.deepEqual(names, described);
});

test("false, 0 and an empty text are values", () => {
  const record = usageRecord({ stream: false, ttft_ms: 0, session: "", duration_ms: 0, bytes_out: 0 });
  const { stream, ttft_ms, session, duration_ms, bytes_out } = JSON.parse(
    formatRecord(record),
  ) as UsageRecord;
  assert.deepEqual([stream, ttft_ms, session, duration_ms, bytes_out], [false, 0, "", 0, 0]);
});
