import assert from "node:assert/strict";
import { test } from "node:test";
import { ClaudeCodeLog } from "../../../../src/core/ledger/import/claude-code-log.ts";
import { toPriced } from "../../../../src/core/ledger/import/imported-record.ts";
import { costOf, describeCost, priceBook } from "../../../helpers/ledger/prices.ts";

/** As Claude Code 2.1.330 writes it; `message` has more changes. */
function line(changes: object = {}, message: object = {}, usage: object = {}): string {
  return JSON.stringify({
    parentUuid: "p",
    isSidechain: false,
    message: {
      model: "claude-opus-5-5",
      id: "msg_1",
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: "SECRET" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: {
        input_tokens: 3,
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 1000,
        output_tokens: 28,
        output_tokens_details: { thinking_tokens: 22 },
        server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
        service_tier: "standard",
        cache_creation: { ephemeral_1h_input_tokens: 100, ephemeral_5m_input_tokens: 0 },
        inference_geo: "not_available",
        iterations: [],
        speed: "standard",
        ...usage,
      },
      ...message,
    },
    requestId: "req_1",
    type: "assistant",
    uuid: "u",
    timestamp: "2026-11-20T10:00:00.5Z",
    cwd: "/home/u/project",
    sessionId: "session-1",
    gitBranch: "main",
    ...changes,
  });
}

function read(...lines: string[]) {
  const log = new ClaudeCodeLog();
  for (const text of lines) log.addLine(text);
  return { log, records: log.records() };
}

test("reads a response as the ledger would have it, and nothing that was said", () => {
  const { records } = read(line());
  assert.deepEqual(records, [
    {
      v: 1,
      source: "claude-code",
      id: "claude-code:msg_1",
      ts: "2026-11-20T10:00:00.500Z",
      tool: "claude-code",
      session: "session-1",
      project: "/home/u/project",
      branch: "main",
      model: "claude-opus-5-5",
      usage: "final",
      tokens: {
        input_uncached: 3,
        cache_read: 1000,
        cache_write: 100,
        cache_write_5m: 0,
        cache_write_1h: 100,
        cache_write_30m: 0,
        cache_write_12h: 0,
        cache_write_ttl_unknown: 0,
        output: 28,
        input_total: 1103,
        reasoning: 22,
        total: 1131,
      },
      extra: [],
      server_tools: { web_search: 0, web_fetch: 0 },
      service_tier: "standard",
      speed: "standard",
      inference_geo: "not_available",
      stop: "end_turn",
      response_id: "msg_1",
      upstream_request_id: "req_1",
      flags: [],
      raw_usage: null,
    },
  ]);
});

test("counts a response once, with the fullest usage and the time of the first line, whatever file repeats it", () => {
  const { records, log } = read(
    line({}, { stop_reason: null }, { output_tokens: 1 }),
    line({ timestamp: "2026-11-20T10:00:01Z" }, { stop_reason: null }, { output_tokens: 5 }),
    line({ timestamp: "2026-11-20T10:00:02Z" }),
    line(
      { timestamp: "2026-11-21T00:00:00Z", sessionId: "fork" },
      { stop_reason: null },
      { output_tokens: 1 },
    ),
    line({ requestId: undefined }),
  );
  assert.deepEqual(
    records.map(({ ts, usage, tokens }) => [ts, usage, tokens?.output]),
    [["2026-11-20T10:00:00.500Z", "final", 28]],
  );
  assert.equal(log.repeated, 4);
});

test("counts from the start of a stream are a lower bound", () => {
  const { records } = read(line({}, { stop_reason: null }, { output_tokens: 1 }));
  assert.deepEqual([records[0]?.usage, records[0]?.tokens?.output], ["partial", 1]);
});

test("skips what is no response of a model, and lines that are not whole", () => {
  const { records } = read(
    line({ type: "user" }),
    line({}, { model: "<synthetic>" }),
    line({}, { usage: null }),
    line({ timestamp: "yesterday" }),
    line().slice(0, -1),
    "null",
    '{"type":"assistant","usage":5}',
  );
  assert.deepEqual(records, []);
});

test("a response without an id is known by its request, else by its line", () => {
  const { records } = read(
    line({}, { id: undefined }),
    line({ uuid: "another" }, { id: undefined }),
    line({ requestId: undefined }, { id: undefined }),
  );
  assert.deepEqual(
    records.map(({ id }) => id),
    ["claude-code:req_1", "claude-code:u"],
  );
});

test("costs what the model's maker charges, by class", () => {
  const [record] = read(line({}, { model: "claude-sonnet-5" }, { input_tokens: 1_000_000 })).records;
  assert.ok(record);
  const [expected] = read(line({}, { model: "claude-sonnet-5" })).records;
  assert.ok(expected);
  const [dear, cheap] = [record, expected].map((one) => describeCost(costOf(toPriced(one), priceBook({}))));
  assert.match(dear ?? "", /^\d+\.\d+$/);
  assert.notEqual(dear, cheap);
});
