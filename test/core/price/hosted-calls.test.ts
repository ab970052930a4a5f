import assert from "node:assert/strict";
import { test } from "node:test";
import { costOf, describeCost, priceBook } from "../../helpers/ledger/prices.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { jsonSetup, messageEvents, readBody, setup, stream } from "../usage/response-bodies.ts";

// What a response costs, from its body: what its output or its model's name proves was used is in it, or named as unpriced.

const PRICES = priceBook({
  openai: { baseUrl: "https://api.openai.com/v1" },
  anthropic: { baseUrl: "https://api.anthropic.com/v1" },
});

function costOfBody(dialect: "messages" | "responses" | "chat", body: object): string {
  const reading = readBody(body, jsonSetup({ dialect }));
  const upstream = dialect === "messages" ? "anthropic" : "openai";
  const record = usageRecord({ upstream, route: "/responses", ts: "2026-11-20T12:00:00.000Z", ...reading });
  return describeCost(costOf(record, PRICES));
}

function response(output: object[], more: object = {}): object {
  // 1000 * 1.25 + 50 * 10, a million
  const usage = { input_tokens: 1_000, output_tokens: 50, total_tokens: 1_050 };
  return { id: "r", model: "gpt-5", status: "completed", usage, output, ...more };
}

const SEARCH = { type: "web_search_call", status: "completed", action: { type: "search" } };

test("two searches that only the output lists are charged for", () => {
  assert.equal(costOfBody("responses", response([])), "0.00175");
  // 2 * 10 / 1000 more
  assert.equal(costOfBody("responses", response([SEARCH, SEARCH])), "0.02175");
});

test("a call of any other tool that only the output lists is unpriced by its name", () => {
  for (const tool of ["file_search", "code_interpreter", "image_generation"])
    assert.equal(
      costOfBody("responses", response([{ type: `${tool}_call`, status: "completed" }])),
      `unpriced gpt-5: ${tool}; at least 0.00175`,
    );
});

test("more searches than the usage reports make the cost a lower bound", () => {
  const tool_usage = { web_search: { num_requests: 1 } };
  assert.equal(costOfBody("responses", response([SEARCH, SEARCH], { tool_usage })), "≥ 0.02175");
});

test("the fee of a model that searches with every request is unpriced by name", () => {
  const usage = { prompt_tokens: 10, completion_tokens: 50, total_tokens: 60 };
  const choices = [{ index: 0, message: { content: "a" }, finish_reason: "stop" }];
  for (const [model, atLeast] of [
    ["gpt-4o-search-preview", "0.000525"],
    // The table has this one with gpt-4o-mini, whose price of searches is that of another API.
    ["gpt-4o-mini-search-preview", "0.0000315"],
  ] as const)
    assert.equal(
      costOfBody("chat", { id: "c", model, choices, usage }),
      `unpriced ${model}: web_search_preview; at least ${atLeast}`,
    );
});

test("code execution of a message is unpriced by name, because it is charged for by time", () => {
  const content = [{ type: "server_tool_use", id: "s", name: "bash_code_execution", input: {} }];
  const usage = { input_tokens: 1_000, output_tokens: 0 };
  const body = { id: "m", model: "claude-sonnet-5", content, stop_reason: "end_turn", usage };
  assert.equal(costOfBody("messages", body), "unpriced claude-sonnet-5: code_execution; at least 0.002");
});

/** Says what a stream cost that was cut after these events. */
function costOfCut(dialect: "messages" | "responses", model: string, events: object[]): string {
  const reading = readBody(stream(events), setup({ dialect }), false);
  const upstream = dialect === "messages" ? "anthropic" : "openai";
  const ts = "2026-11-20T12:00:00.000Z";
  return describeCost(costOf(usageRecord({ upstream, route: "/responses", ts, ...reading, model }), PRICES));
}

const itemDone = (item: object) => ({ type: "response.output_item.done", item });

test("a stream of Responses that was cut costs at least the searches that had ended", () => {
  assert.equal(costOfCut("responses", "gpt-5", [{ type: "response.created" }]), "unknown");
  // 2 * 10 / 1000
  assert.equal(costOfCut("responses", "gpt-5", [itemDone(SEARCH), itemDone(SEARCH)]), "≥ 0.02");
  const begun = { type: "response.output_item.added", item: { ...SEARCH, status: "in_progress" } };
  assert.equal(costOfCut("responses", "gpt-5", [begun]), "unknown");
});

test("a call without a price is named where a stream was cut, and so is a model without one", () => {
  const item = itemDone({ type: "file_search_call", status: "completed" });
  assert.equal(costOfCut("responses", "gpt-5", [item]), "unpriced gpt-5: file_search; at least 0");
  assert.equal(
    costOfCut("responses", "gpt-5", [item, itemDone(SEARCH)]),
    "unpriced gpt-5: file_search; at least 0.01",
  );
  assert.equal(costOfCut("responses", "nobody", [itemDone(SEARCH)]), "unpriced nobody: model; at least 0");
});

function startBlock(content_block: object): object {
  return { type: "content_block_start", index: 0, content_block };
}

test("a message that was cut costs its input so far and the searches whose results came", () => {
  const [start = {}] = messageEvents([{ input_tokens: 1_000, output_tokens: 0 }]);
  const search = startBlock({ type: "server_tool_use", id: "s", name: "web_search", input: {} });
  const result = startBlock({ type: "web_search_tool_result", tool_use_id: "s", content: [] });
  assert.equal(costOfCut("messages", "claude-sonnet-5", [start, search]), "≥ 0.002");
  assert.equal(costOfCut("messages", "claude-sonnet-5", [start, search, result]), "≥ 0.012");
});
