import assert from "node:assert/strict";
import { test } from "node:test";
import { spentBy } from "../../../src/core/budget/spent.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { meterChunks } from "../usage/corpus.ts";
import { messageEvents, setup, stream } from "../usage/response-bodies.ts";

// What budgets count of streams that end without usage: from the bytes of the response to dollars.

const PRICES = priceBook({
  anthropic: { baseUrl: "https://api.anthropic.com/v1" },
  openai: { baseUrl: "https://api.openai.com/v1" },
});

const WORDS = "The quick brown fox jumps over the lazy dog and runs home again".split(" ");
/** A word is a token. */
const word = (i: number) => ` ${WORDS[i % WORDS.length]}`;

const PIECES = {
  messages: (i: number) => ({
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: word(i) },
  }),
  responses: (i: number) => ({
    type: "response.output_text.delta",
    sequence_number: i,
    item_id: `msg_${"0".repeat(48)}`,
    output_index: 0,
    content_index: 0,
    delta: word(i),
    logprobs: [],
    obfuscation: "x".repeat(i % 16),
  }),
  chat: (i: number) => ({
    id: `chatcmpl-${"0".repeat(29)}`,
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: "gpt-5",
    service_tier: "default",
    choices: [{ index: 0, delta: { content: word(i) }, logprobs: null, finish_reason: null }],
    obfuscation: "x".repeat(i % 16),
  }),
};

/** Returns what a budget counts of a stream of so many tokens that its client leaves, in dollars, and how many bytes came. */
function countStream(dialect: keyof typeof PIECES, tokens: number): { usd: number; bytes: number } {
  const first =
    dialect === "messages" ? messageEvents([{ input_tokens: 10, output_tokens: 1 }]).slice(0, 1) : [];
  const body = Buffer.from(
    stream([...first, ...Array.from({ length: tokens }, (_, i) => PIECES[dialect](i))]),
  );
  const reading = meterChunks(setup({ dialect }), [body], false);
  const [upstream, model] = dialect === "messages" ? ["anthropic", "claude-opus-4-5"] : ["openai", "gpt-5"];
  const record = usageRecord({
    ...reading,
    upstream,
    model,
    cut_by: "client",
    bytes_in: 300,
    bytes_out: body.length,
    ts: "2026-11-20T12:00:00.000Z",
  });
  const { known, assumed } = spentBy({ record, source: record }, PRICES);
  return { usd: Number(formatMoney(known.usd + assumed.usd)), bytes: body.length };
}

// The price of 4,000 tokens of output is $0.10 and $0.04.
for (const [dialect, tokens, truth] of [
  ["messages", 4_000, 0.1],
  ["responses", 4_000, 0.04],
  ["chat", 4_000, 0.04],
  ["chat", 1_000, 0.01],
] as const)
  test(`a ${dialect} stream of ${tokens} tokens without usage counts by its text, not by its bytes`, () => {
    const { usd, bytes } = countStream(dialect, tokens);
    assert.ok(usd > truth / 1.5 && usd < truth * 1.5, `$${usd} of ${bytes} bytes, $${truth} in truth`);
  });

test("streams that are left early exceed a limit of $0.07 by one at most, in any API", () => {
  for (const [dialect, rest] of [
    ["messages", 0],
    ["responses", 1],
    ["chat", 1],
  ] as const)
    assert.equal(Math.floor(0.07 / countStream(dialect, 4_000).usd), rest);
});

/** Returns what a budget counts of a stream that its client leaves after these events: what is known, and what is assumed. */
function countCut(
  dialect: "messages" | "responses",
  events: object[],
  changes: object,
): [known: string, assumed: string] {
  const body = Buffer.from(stream(events));
  const reading = meterChunks(setup({ dialect }), [body], false);
  const [upstream, model] = dialect === "messages" ? ["anthropic", "claude-opus-4-5"] : ["openai", "gpt-5"];
  const ts = "2026-11-20T12:00:00.000Z";
  const record = usageRecord({
    ...reading,
    upstream,
    model,
    cut_by: "client",
    bytes_out: body.length,
    ts,
    ...changes,
  });
  const { known, assumed } = spentBy({ record, source: record }, PRICES);
  return [formatMoney(known.usd), formatMoney(assumed.usd)];
}

const ITEM = { type: "web_search_call", status: "completed", action: { type: "search" } };
const itemDone = (item: object) => ({ type: "response.output_item.done", item });

test("a stream that is left early counts the searches that had ended beside what was reserved", () => {
  const reserved = { reserved_input: 1_000, reserved_output: 4_000 };
  // 1,000 of input at $1.25 and 4,000 of output at $10 a million
  assert.deepEqual(countCut("responses", [], reserved), ["0", "0.04125"]);
  assert.deepEqual(countCut("responses", [itemDone(ITEM), itemDone(ITEM)], reserved), ["0.02", "0.04125"]);
});

test("a call without a price counts as $0.03 in a stream that is left early", () => {
  const item = itemDone({ type: "file_search_call", status: "completed" });
  const reserved = { reserved_input: 1_000, reserved_output: 4_000 };
  assert.deepEqual(countCut("responses", [item, itemDone(ITEM)], reserved), ["0.01", "0.07125"]);
});

function startBlock(content_block: object): object {
  return { type: "content_block_start", index: 0, content_block };
}

test("a message that is left early counts the searches whose results came", () => {
  const [start = {}] = messageEvents([{ input_tokens: 1_000, output_tokens: 0 }]);
  const search = startBlock({ type: "server_tool_use", id: "s", name: "web_search" });
  const result = startBlock({ type: "web_search_tool_result", tool_use_id: "s", content: [] });
  assert.deepEqual(countCut("messages", [start, search], {}), ["0.005", "0"]);
  assert.deepEqual(countCut("messages", [start, search, result], {}), ["0.015", "0"]);
});
