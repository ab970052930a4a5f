import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { createMeter } from "../../../src/core/usage/meter.ts";
import type { MeterReading } from "../../../src/core/usage/reading.ts";
import { createRandom, meterChunks, randomPieces, singleBytes } from "./corpus.ts";
import { jsonSetup, messageEvents, readBody, setup, stream } from "./response-bodies.ts";

// An estimate of streamed output is compared with a tokenizer that the meter does not use.

const ROOT = new URL("../../../", import.meta.url);

function readAll(folder: string, ending: string): string {
  const names = readdirSync(new URL(folder, ROOT)).filter((name) => name.endsWith(ending));
  return names.map((name) => readFileSync(new URL(folder + name, ROOT), "utf8")).join("\n");
}

/** Texts of a development dependency that is translated into many languages. */
function readTranslation(language: string): string {
  const file = new URL(`node_modules/axe-core/locales/${language}.json`, ROOT);
  return textsOf(JSON.parse(readFileSync(file, "utf8"))).join("\n");
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

const CODE = readAll("src/core/usage/", ".ts");

/** Arguments of a function tool that edits files, as the model writes them: JSON with code in it. */
function editArguments(): string {
  const edits = CODE.match(/.{1,700}/gs)?.map((code, i) => ({
    file_path: `/home/ada/project/src/file-${i}.ts`,
    old_string: code.slice(0, 200),
    new_string: code.slice(200),
    replace_all: i % 2 === 0,
  }));
  return (edits ?? []).map((edit) => JSON.stringify(edit)).join("");
}

const TEXTS = {
  prose: readAll("docs/", ".md"),
  code: CODE,
  Chinese: readTranslation("zh_CN"),
  Japanese: readTranslation("ja"),
  Korean: readTranslation("ko"),
  Russian: readTranslation("ru"),
  French: readTranslation("fr"),
  "tool arguments": editArguments(),
};

type Dialect = "messages" | "responses" | "chat";

/** Returns the events before a stream's output, and one with a piece of it. */
function eventsOf(
  dialect: Dialect,
  isTool: boolean,
): { first: object[]; piece: (text: string, i: number) => object } {
  if (dialect === "messages")
    return {
      first: messageEvents([{ input_tokens: 10, output_tokens: 1 }]).slice(0, 1),
      piece: (text, index) => ({
        type: "content_block_delta",
        index,
        delta: isTool ? { type: "input_json_delta", partial_json: text } : { type: "text_delta", text },
      }),
    };
  if (dialect === "responses")
    return {
      first: [{ type: "response.created", response: { id: "r", model: "m" } }],
      piece: (delta, sequence_number) => ({
        type: isTool ? "response.function_call_arguments.delta" : "response.output_text.delta",
        sequence_number,
        item_id: "msg_0123456789abcdef0123456789abcdef0123456789abcdef",
        output_index: 0,
        content_index: 0,
        delta,
        logprobs: [],
        obfuscation: "x".repeat(sequence_number % 16),
      }),
    };
  return {
    first: [],
    piece: (text) => ({
      id: "chatcmpl-0123456789abcdefghijklmnop",
      object: "chat.completion.chunk",
      created: 1_790_000_000,
      model: "m",
      choices: [
        {
          index: 0,
          delta: isTool ? { tool_calls: [{ index: 0, function: { arguments: text } }] } : { content: text },
          finish_reason: null,
        },
      ],
      usage: null,
    }),
  };
}

/** Cuts a text into pieces of a few characters, never within one. */
function piecesOf(text: string, random: () => number): string[] {
  const characters = Array.from(text);
  const pieces: string[] = [];
  for (let at = 0; at < characters.length;) {
    const length = 1 + Math.floor(random() * 12);
    pieces.push(characters.slice(at, at + length).join(""));
    at += length;
  }
  return pieces;
}

/** Returns some of a text. */
function partOf(text: string, random: () => number): string {
  const length = 300 + Math.floor(random() * 3_000);
  const at = Math.floor(random() * (text.length - length));
  // Not half a character.
  return text.slice(at, at + length).replaceAll(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
}

const STREAMS = 500;

for (const dialect of ["messages", "responses", "chat"] as const) {
  test(`${dialect}: the output of streams that are cut anywhere is within a factor of 1.5 of the tokenizer's in 95 of 100`, (t) => {
    const random = createRandom(37);
    const ratios = Array.from({ length: STREAMS }, (_, i) => {
      const [kind, text] = Object.entries(TEXTS)[i % Object.keys(TEXTS).length] ?? ["", ""];
      const { first, piece } = eventsOf(dialect, kind === "tool arguments");
      const pieces = piecesOf(partOf(text, random), random);
      const seen = pieces.slice(0, 20 + Math.floor(random() * pieces.length));
      const body = Buffer.from(stream([...first, ...seen.map(piece)]));
      const { output_estimate: estimate, usage } = meterChunks(setup({ dialect }), [body], false);
      assert.notEqual(usage, "final");
      return (estimate ?? 0) / countTokens(seen.join(""));
    });
    const close = ratios.filter((ratio) => ratio >= 1 / 1.5 && ratio <= 1.5).length;
    const sorted = ratios.toSorted((one, other) => one - other);
    t.diagnostic(
      `${close} of ${STREAMS}; 2.5 %, half, 97.5 %: ${[0.025, 0.5, 0.975].map((part) => sorted[Math.floor(part * STREAMS)]?.toFixed(2)).join(", ")}`,
    );
    assert.ok(close >= 0.95 * STREAMS, `${close} of ${STREAMS}`);
  });

  test(`${dialect}: the estimate does not depend on how a stream arrives`, () => {
    const random = createRandom(5);
    for (const [kind, text] of Object.entries(TEXTS)) {
      const { first, piece } = eventsOf(dialect, kind === "tool arguments");
      // One event is longer than what is read in one part.
      const pieces = [...piecesOf(partOf(text, random), random), partOf(text, random), '"\\\n\\\\"'];
      const body = Buffer.from(stream([...first, ...pieces.map(piece)]));
      const whole = meterChunks(setup({ dialect }), [body], false);
      assert.ok((whole.output_estimate ?? 0) > 50, kind);
      assert.deepEqual(meterChunks(setup({ dialect }), singleBytes(body), false), whole, kind);
      assert.deepEqual(meterChunks(setup({ dialect }), randomPieces(body, 700, random), false), whole, kind);
    }
  });
}

const block = (delta: object) => ({ type: "content_block_delta", index: 0, delta });
const chunk = (choice: object) => ({ id: "c", model: "m", choices: [{ index: 0, ...choice }] });

function estimateOf(events: object[], dialect: Dialect = "messages"): number | null {
  return readBody(stream(events), setup({ dialect }), false).output_estimate;
}

test("characters that a gateway writes as escapes count like those themselves", () => {
  const { piece } = eventsOf("chat", false);
  const text = partOf(TEXTS.Chinese, createRandom(1));
  const events = stream(piecesOf(text, createRandom(2)).map(piece));
  const escaped = events.replaceAll(/[^\0-\x7f]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  const [plain, long] = [events, escaped].map(
    (body) => readBody(body, setup({ dialect: "chat" }), false).output_estimate ?? 0,
  );
  assert.ok(plain !== undefined && long !== undefined);
  assert.ok(Math.abs(long - plain) < 0.1 * plain, `${plain} and ${long}`);
});

test("counts the thinking, the text and the arguments of a message, and nothing else of it", () => {
  const word = "word ".repeat(50);
  const one = estimateOf([block({ type: "text_delta", text: word })]);
  assert.ok(one !== null && one > 0);
  for (const delta of [
    { type: "thinking_delta", thinking: word },
    { type: "input_json_delta", partial_json: word },
  ])
    assert.equal(estimateOf([block(delta)]), one);
  for (const delta of [
    { type: "signature_delta", signature: word },
    { type: "citations_delta", citation: { type: "web_search_result_location", cited_text: word } },
  ])
    assert.equal(estimateOf([block(delta)]), 0);
  assert.equal(
    estimateOf([
      { type: "ping", text: word },
      { type: "content_block_start", content_block: { text: word } },
    ]),
    0,
  );
});

test("counts every kind of output of a chat stream", () => {
  const word = "word ".repeat(50);
  const deltas = [
    { content: word },
    { reasoning_content: word },
    { reasoning: word },
    { refusal: word },
    { function_call: { name: "f", arguments: word } },
    { tool_calls: [{ index: 0, function: { name: "f", arguments: word } }] },
  ];
  const counted = [...deltas.map((delta) => chunk({ delta })), chunk({ text: word })];
  const one = estimateOf([chunk({ delta: { content: word } })], "chat") ?? 0;
  // The first is read, the others are skipped, and the last is of another choice.
  for (const event of counted) {
    const events = [chunk({ delta: { content: "x" } }), event, chunk({ index: 1, delta: { content: "x" } })];
    const sum = estimateOf(events, "chat") ?? 0;
    assert.ok(sum >= one && sum <= one + 2, JSON.stringify(event));
  }
  const other = { ...chunk({ delta: { role: "assistant" } }), system_fingerprint: word, content: word };
  assert.equal(estimateOf([other], "chat"), 0);
});

test("a stream with interim usage in every chunk is estimated, too", () => {
  const usage = { prompt_tokens: 10, completion_tokens: 1 };
  const one = { choices: [{ index: 0, delta: { content: "word ".repeat(50) } }], usage };
  assert.ok((estimateOf([one, one], "chat") ?? 0) > 80);
});

test("the estimate of what has come so far grows with each event", () => {
  const meter = createMeter(setup());
  const readings: MeterReading[] = [];
  const { first, piece } = eventsOf("messages", false);
  for (const event of [...first, ...["Hello ", "there, ", "Ada"].map(piece)]) {
    meter.feed(Buffer.from(stream([event])));
    readings.push(meter.readSoFar());
  }
  const estimates = readings.map(({ output_estimate: estimate }) => estimate ?? 0);
  assert.deepEqual(
    estimates,
    estimates.toSorted((one, other) => one - other),
  );
  assert.equal(new Set(estimates).size, 4);
  assert.deepEqual(
    readings.map(({ tokens }) => tokens?.output),
    [1, 1, 1, 1],
  );
});

test("final usage, and a JSON document, have no estimate", () => {
  const { piece } = eventsOf("messages", false);
  const [start, ...end] = messageEvents([{ input_tokens: 1 }, { output_tokens: 5 }]);
  assert.equal(readBody(stream([start ?? {}, piece("a", 0), ...end]), setup()).output_estimate, null);
  assert.equal(readBody('{"content":[{"text":"a', jsonSetup(), false).output_estimate, null);
  assert.equal(readBody(stream([piece("a", 0)]), setup({ dialect: "none" })).output_estimate, null);
});
