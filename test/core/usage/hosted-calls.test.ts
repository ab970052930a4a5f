import assert from "node:assert/strict";
import { test } from "node:test";
import { readUsage } from "./chat/chat-bodies.ts";
import { jsonSetup, messageEvents, readBody, setup, stream } from "./response-bodies.ts";
import { CORPUS_MISSING, listCorpus, meterChunks, readBody as readRecorded, setupOf } from "./corpus.ts";
import type { MeterReading } from "../../../src/core/usage/reading.ts";

// Which calls are counted is in docs/wire.md, section 9. OpenAI's usage says nothing of most of them: earendil-works/pi#1432,
// BerriAI/litellm#31316, pydantic/pydantic-ai#8310.

const USAGE = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
const SEARCH = { type: "web_search_call", status: "completed", action: { type: "search", query: "a" } };

/** Reads a response of the Responses API with this output. */
function readOutput(output: object[], more: object = {}): MeterReading {
  const body = { id: "resp_1", model: "m", status: "completed", usage: USAGE, output, ...more };
  const reading = readBody(body, jsonSetup({ dialect: "responses" }));
  const items = output.map((item) => ({ type: "response.output_item.done", item }));
  const end = { type: "response.completed", response: body };
  const events = stream([...items, end]);
  const { output_estimate: _none, ...expected } = reading;
  const { output_estimate: _some, ...streamed } = readBody(events, setup({ dialect: "responses" }));
  assert.deepEqual(streamed, expected);
  // Some gateways leave the output out of the last event.
  const short = stream([...items, { ...end, response: { ...body, output: [] } }]);
  assert.deepEqual(readBody(short, setup({ dialect: "responses" })).server_tools, reading.server_tools);
  return reading;
}

test("counts the searches that a response lists", () => {
  const reading = readOutput([SEARCH, { type: "message" }, { ...SEARCH, action: undefined }]);
  assert.deepEqual([reading.server_tools, reading.usage, reading.flags], [{ web_search: 2 }, "final", []]);
});

test("does not count what is not charged as a search: opening a page, finding in it, failing", () => {
  const actions = ["open_page", "find_in_page"].map((type) => ({ ...SEARCH, action: { type } }));
  assert.deepEqual(readOutput([...actions, { ...SEARCH, status: "failed" }]).server_tools, {});
});

test("names every other tool that the service ran", () => {
  const tools = ["file_search", "code_interpreter", "image_generation", "x_search", "something_new"];
  const output = tools.map((tool) => ({ type: `${tool}_call`, status: "completed" }));
  const hosted = { type: "shell_call", environment: { type: "container_reference" } };
  assert.deepEqual(readOutput([...output, hosted]).server_tools, {
    ...Object.fromEntries(tools.map((tool) => [tool, 1])),
    shell: 1,
  });
});

test("does not count calls that the client runs, and those that cost their tokens only", () => {
  const tools = ["function", "custom_tool", "local_shell", "apply_patch", "computer", "mcp", "tool_search"];
  const output: object[] = tools.map((tool) => ({ type: `${tool}_call` }));
  output.push({ type: "shell_call", environment: { type: "local" } }, { type: "program" }, { type: 5 });
  assert.deepEqual(readOutput(output).server_tools, {});
});

test("images whose tokens are reported are not counted as calls, too", () => {
  const tool_usage = { image_gen: { input_tokens: 50, output_tokens: 1_000, total_tokens: 1_050 } };
  const reading = readOutput([{ type: "image_generation_call" }], { tool_usage });
  assert.deepEqual([reading.server_tools, reading.extra.length], [{}, 1]);
});

test("the usage may report more calls than the output lists, but fewer are a contradiction", () => {
  const more = readOutput([SEARCH], { tool_usage: { web_search: { num_requests: 3 } } });
  assert.deepEqual([more.server_tools, more.usage, more.flags], [{ web_search: 3 }, "final", []]);
  for (const num_requests of [0, 1]) {
    const fewer = readOutput([SEARCH, SEARCH], { tool_usage: { web_search: { num_requests } } });
    assert.deepEqual([fewer.server_tools, fewer.usage], [{ web_search: 2 }, "partial"]);
    assert.deepEqual(fewer.flags, ["tool_calls_exceed_usage"]);
  }
});

test("reads xAI's counts of calls (BerriAI/litellm#30817)", () => {
  const details = { web_search_calls: 2, x_search_calls: 0, mcp_calls: 1 };
  const usage = { ...USAGE, server_side_tool_usage_details: details };
  assert.deepEqual(readOutput([SEARCH, SEARCH], { usage }).server_tools, { web_search: 2, mcp: 1 });
  const chat = { prompt_tokens: 5, completion_tokens: 2, server_side_tool_usage_details: details };
  assert.deepEqual(readUsage(chat).server_tools, { web_search: 2, mcp: 1 });
});

test("a stream that was cut keeps the calls that had ended", () => {
  const events = [SEARCH, SEARCH].map((item) => ({ type: "response.output_item.done", item }));
  const reading = readBody(stream(events), setup({ dialect: "responses" }), false);
  assert.deepEqual(
    [reading.outcome, reading.usage, reading.server_tools],
    ["cut", "absent", { web_search: 2 }],
  );
});

test("a background response has no calls before the fetch that brings its usage", () => {
  const body = { id: "r", status: "in_progress", background: true, usage: null, output: [SEARCH] };
  assert.deepEqual(readBody(body, jsonSetup({ dialect: "responses" })).server_tools, {});
});

test("a compaction has not made the calls of the responses that it sums up", () => {
  assert.deepEqual(readOutput([], { object: "response.compaction" }).server_tools, {});
  const body = { object: "response.compaction", usage: USAGE, output: [SEARCH] };
  assert.deepEqual(readBody(body, jsonSetup({ dialect: "responses" })).server_tools, {});
});

test("an output list that is longer than what is read has a lower bound of calls", () => {
  const body = { status: "completed", usage: USAGE, output: Array.from({ length: 200 }, () => SEARCH) };
  const reading = readBody(body, jsonSetup({ dialect: "responses" }));
  assert.deepEqual([reading.server_tools, reading.flags], [{ web_search: 128 }, ["extra_cut_short"]]);
});

test("keeps no text of an item's type that is not a word", () => {
  const item = { type: "my password is 123 _call" };
  assert.deepEqual(readOutput([item]).server_tools, {});
});

/** Reads a message with these blocks, as a document and as a stream. */
function readBlocks(blocks: object[], usage: object = {}): MeterReading {
  const counts = { input_tokens: 10, output_tokens: 5, ...usage };
  const body = { id: "msg_1", model: "m", content: blocks, stop_reason: "end_turn", usage: counts };
  const reading = readBody(body, jsonSetup());
  const [start, ...rest] = messageEvents([{ input_tokens: 10, output_tokens: 1 }, counts]);
  const events = blocks.map((block, index) => ({ type: "content_block_start", index, content_block: block }));
  const streamed = readBody(stream([start ?? {}, ...events, ...rest]), setup());
  assert.deepEqual(streamed.server_tools, reading.server_tools);
  return reading;
}

function call(name: string): object {
  return { type: "server_tool_use", id: "srvtoolu_1", name, input: {} };
}

test("names the tools of a message that its usage does not report", () => {
  const blocks = [call("bash_code_execution"), call("text_editor_code_execution"), call("web_search_prime")];
  assert.deepEqual(readBlocks(blocks).server_tools, { code_execution: 2, web_search_prime: 1 });
});

test("the usage of a message is right about the searches that it reports, because failed ones cost nothing", () => {
  const server_tool_use = { web_search_requests: 1, web_fetch_requests: 0 };
  const reading = readBlocks([call("web_search"), call("web_search")], { server_tool_use });
  assert.deepEqual([reading.server_tools, reading.usage], [{ web_search: 1, web_fetch: 0 }, "final"]);
  assert.deepEqual(readBlocks([call("web_search")]).server_tools, { web_search: 1 });
});

test("code execution costs nothing beside web search and web fetch", () => {
  const server_tool_use = { web_search_requests: 0, web_fetch_requests: 1 };
  const blocks = [call("code_execution"), call("web_fetch")];
  assert.deepEqual(readBlocks(blocks, { server_tool_use }).server_tools, { web_search: 0, web_fetch: 1 });
});

test("does not count what costs its tokens only, and calls of the client's tools", () => {
  const blocks = [call("advisor"), call("tool_search_tool_bm25"), { type: "tool_use", name: "x" }];
  assert.deepEqual(readBlocks([...blocks, { type: "mcp_tool_use", name: "y" }]).server_tools, {});
});

function result(id: string, content: unknown = [{ type: "web_search_result" }]): object {
  return { type: "web_search_tool_result", tool_use_id: id, content };
}

function startBlock(content_block: object): object {
  return { type: "content_block_start", index: 0, content_block };
}

const FAILED = { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" };

/** Reads a message with these blocks that ends before its usage. */
function readCut(blocks: object[], started: object = {}): Record<string, number> {
  const [start] = messageEvents([{ input_tokens: 10, output_tokens: 1, ...started }]);
  const reading = readBody(stream([start ?? {}, ...blocks.map(startBlock)]), setup(), false);
  assert.deepEqual([reading.outcome, reading.usage], ["cut", "partial"]);
  return reading.server_tools;
}

test("a message that was cut has the calls whose results came", () => {
  const searches = ["a", "b", "c"].map((id) => ({ ...call("web_search"), id }));
  assert.deepEqual(readCut(searches), {});
  assert.deepEqual(readCut([...searches, result("a"), result("b", "text")]), { web_search: 2 });
  // One of another call, or a second one, proves nothing more.
  assert.deepEqual(readCut([...searches, result("a"), result("a"), result("d")]), { web_search: 1 });
  assert.deepEqual(readCut([{ ...call("web_search"), id: null }]), { web_search: 1 });
});

test("a search that failed costs nothing, in a message that was cut, and in one whose usage says nothing of it", () => {
  const searches = ["a", "b"].map((id) => ({ ...call("web_search"), id }));
  const blocks = [...searches, result("a", FAILED), result("b")];
  assert.deepEqual(readCut(blocks), { web_search: 1 });
  assert.deepEqual(readBlocks(blocks).server_tools, { web_search: 1 });
  assert.deepEqual(readBlocks([...searches.slice(1), result("b", FAILED)]).server_tools, {});
});

test("zeros in the usage at the start of a message hide no search, and higher counts stay", () => {
  const blocks = [{ ...call("web_search"), id: "a" }, result("a")];
  for (const [web_search_requests, calls] of [
    [0, 1],
    [3, 3],
  ])
    assert.deepEqual(readCut(blocks, { server_tool_use: { web_search_requests } }), { web_search: calls });
});

test("another message that replaces the first begins without calls", () => {
  const [start] = messageEvents([{ input_tokens: 10, output_tokens: 1 }]);
  const again = { type: "message_start", message: { id: "msg_2", usage: { input_tokens: 10 } } };
  const events = [
    start ?? {},
    startBlock({ ...call("web_search"), id: "a" }),
    again,
    startBlock(result("a")),
  ];
  assert.deepEqual(readBody(stream(events), setup(), false).server_tools, {});
});

const COUNTS = { prompt_tokens: 10, completion_tokens: 5 };

/** The calls of a stream of Chat Completions that was cut after a chunk with this delta. */
function callsOfCutChat(model: string, delta: object): Record<string, number> {
  const body = stream([{ id: "c", model, choices: [{ index: 0, delta }] }]);
  return readBody(body, setup({ dialect: "chat" }), false).server_tools;
}

for (const model of [
  "gpt-4o-search-preview",
  "openai/gpt-4o-mini-search-preview-2025-03-11",
  "gpt-5-search-api",
]) {
  test(`the name of ${model} proves a search (QuantumNous/new-api#1108)`, () => {
    assert.deepEqual(readUsage(COUNTS, { model }).server_tools, { web_search_preview: 1 });
    assert.deepEqual(readUsage({}, { model, usage: null }).server_tools, {});
    assert.deepEqual(callsOfCutChat(model, { content: "a" }), { web_search_preview: 1 });
    assert.deepEqual(callsOfCutChat(model, { role: "assistant", content: "" }), {});
  });
}

test("no other model's name proves a search", () => {
  for (const model of ["gpt-4o", "research-preview", "m-search-previews", "search"])
    assert.deepEqual(readUsage(COUNTS, { model }).server_tools, {});
});

test("reads the searches that gateways report with Chat Completions", () => {
  const cases: [usage: object, calls: Record<string, number>][] = [
    [{ server_tool_use_details: { web_search_requests: 1 } }, { web_search: 1 }],
    [{ server_tool_use: { web_search_requests: 2 } }, { web_search: 2 }],
    [{ num_search_queries: 18, num_sources_used: 0 }, { search_queries: 18 }],
    [{ num_sources_used: 4 }, { search_sources: 4 }],
  ];
  for (const [usage, calls] of cases)
    assert.deepEqual(readUsage({ ...COUNTS, ...usage }).server_tools, calls);
});

/** Where each event of a stream ends. */
function endsOfEvents(body: Buffer): number[] {
  return [...body.toString("latin1").matchAll(/\r?\n\r?\n/g)].map(({ index, 0: end }) => index + end.length);
}

test(
  "a recorded stream that is cut after any event has no more calls than the whole one, and never fewer than before",
  { skip: CORPUS_MISSING ?? false },
  () => {
    let streams = 0;
    for (const file of listCorpus()) {
      if (file.api === "chat" || !file.content_type.startsWith("text/event-stream")) continue;
      const [body, known] = [readRecorded(file), setupOf(file)];
      const whole = meterChunks(known, [body]).server_tools;
      if (Object.keys(whole).length === 0) continue;
      streams += 1;
      let before: Record<string, number> = {};
      for (const end of endsOfEvents(body)) {
        const cut = meterChunks(known, [body.subarray(0, end)], false).server_tools;
        for (const tool in before)
          // Code execution is free as soon as a search is proved.
          if (tool !== "code_execution") assert.ok((cut[tool] ?? 0) >= (before[tool] ?? 0), file.file);
        for (const tool in cut)
          if (tool !== "code_execution")
            assert.ok((cut[tool] ?? 0) <= (whole[tool] ?? 0), `${file.file} ${tool}`);
        before = cut;
      }
      assert.deepEqual(before, whole, file.file);
    }
    assert.ok(streams >= 10, `${streams}`);
  },
);
