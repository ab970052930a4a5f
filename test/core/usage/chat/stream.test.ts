import assert from "node:assert/strict";
import { test } from "node:test";
import { createMeter } from "../../../../src/core/usage/meter.ts";
import { jsonSetup, nonZeroCounts, readBody, setup } from "../response-bodies.ts";
import { chunk, chunks, DONE, readChunks } from "./chat-bodies.ts";

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const COUNTS = { input_uncached: 10, output: 5 };
const TEXT = chunk({ content: "a" });
const STOP = chunk({}, "stop");
const LAST = { id: "c1", model: "m", choices: [], usage: USAGE };

const PLACES: [where: string, parts: (object | string)[]][] = [
  ["in a chunk without choices", [TEXT, STOP, LAST, DONE]],
  ["in a chunk whose choices are null", [TEXT, STOP, { ...LAST, choices: null }, DONE]],
  ["in the chunk that finishes", [TEXT, chunk({}, "stop", { usage: USAGE }), DONE]],
  ["in x_groq", [TEXT, chunk({}, "stop", { x_groq: { usage: USAGE } }), DONE]],
  ["in a choice", [TEXT, { choices: [{ index: 0, finish_reason: "stop", usage: USAGE }] }, DONE]],
  [
    "in a chunk with a choice after the finish",
    [TEXT, STOP, chunk({ content: "" }, null, { usage: USAGE }), DONE],
  ],
  ["after [DONE]", [TEXT, STOP, DONE, LAST]],
  ["before a chunk with null", [TEXT, STOP, LAST, { ...LAST, usage: null }, DONE]],
  ["in a stream without [DONE]", [TEXT, STOP, LAST]],
  [
    "behind comments, names and other fields",
    [": ping", "event: message\nid: 7", TEXT, STOP, LAST, "retry: 5", DONE],
  ],
];

for (const [where, parts] of PLACES) {
  test(`reads usage ${where}`, () => {
    const reading = readChunks(parts);
    assert.deepEqual(nonZeroCounts(reading), COUNTS);
    assert.deepEqual(
      [reading.outcome, reading.usage, reading.spend, reading.stop],
      ["completed", "final", "count", "stop"],
    );
    assert.deepEqual([reading.response_id, reading.model, reading.flags], ["c1", "m", []]);
  });
}

test("the last count of each field wins, and null or a missing field replaces nothing", () => {
  const later = { prompt_tokens: null, completion_tokens: 9, prompt_tokens_details: { audio_tokens: 1 } };
  const first = { prompt_tokens: 10, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 4 } };
  const reading = readChunks([
    chunk({ content: "a" }, null, { usage: first }),
    chunk({}, "stop", { usage: later }),
    DONE,
  ]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 6, cache_read: 4, output: 9 });
  assert.equal(reading.usage, "final");
});

test("interim counts are a lower bound when the connection breaks or an error follows, and final after a clean end", () => {
  const interim = [chunk({ content: "a" }, null, { usage: USAGE }), TEXT];
  const broken = readChunks(interim, false);
  assert.deepEqual([broken.outcome, broken.usage], ["cut", "partial"]);
  const failed = readChunks([...interim, { error: { code: 503, type: "server_error" } }, DONE]);
  assert.deepEqual([failed.outcome, failed.usage, failed.error_type], ["error", "partial", "server_error"]);
  const ended = readChunks(interim);
  assert.deepEqual([ended.outcome, ended.usage], ["completed", "final"]);
});

test("usage beside one of several choices is interim until all have finished", () => {
  const both = {
    choices: [
      { index: 0, delta: { content: "a" } },
      { index: 1, delta: { content: "b" } },
    ],
    usage: USAGE,
  };
  const one = { choices: [{ index: 1, delta: {}, finish_reason: "length" }], usage: USAGE };
  const early = readChunks([both, one], false);
  assert.deepEqual([early.outcome, early.usage, early.stop], ["cut", "partial", "length"]);
  const late = readChunks([both, one, chunk({}, "stop", { usage: USAGE })], false);
  assert.deepEqual([late.outcome, late.usage, late.stop], ["completed", "final", "stop"]);
});

test("a choice that begins late, behind the output of another, leaves counts interim until it has finished", () => {
  const first = [TEXT, chunk({}, "stop", { usage: USAGE })];
  const second = { choices: [{ index: 1, delta: { content: "b" } }] };
  const end = { choices: [{ index: 1, delta: {}, finish_reason: "stop" }], usage: USAGE };
  for (const [parts, expected] of [
    [
      [TEXT, second, ...first],
      ["cut", "partial"],
    ],
    [
      [...first, second],
      ["cut", "partial"],
    ],
    [
      [second, TEXT, end],
      ["cut", "partial"],
    ],
    [
      [TEXT, second, end],
      ["cut", "partial"],
    ],
    [
      [...first, second, end],
      ["completed", "final"],
    ],
    [
      [TEXT, second, end, ...first],
      ["completed", "final"],
    ],
    [
      [TEXT, LAST, second],
      ["cut", "partial"],
    ],
  ] as const) {
    const reading = readChunks([...parts], false);
    assert.deepEqual([reading.outcome, reading.usage], expected, JSON.stringify(parts));
  }
});

test("a usage object without counts, or with zeros only, makes no earlier count final", () => {
  const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  for (const usage of [{}, { prompt_tokens: null }, { cost: 1 }, zeros]) {
    const interim = chunk({ content: "a" }, null, { usage: USAGE });
    const reading = readChunks([interim, STOP, { ...LAST, usage }], false);
    assert.deepEqual([reading.outcome, reading.usage], ["cut", "partial"], JSON.stringify(usage));
    const late = readChunks([interim, STOP, LAST, { ...LAST, usage: {} }], false);
    assert.equal(late.usage, "final");
  }
  assert.equal(readChunks([TEXT, chunk({}, "stop", { usage: zeros }), DONE]).usage, "final");
});

test("completions stream their text in choices, and zeros in every chunk until the counts", () => {
  const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  const meter = createMeter(setup({ dialect: "chat" }));
  const parts = [
    { choices: [{ index: 0, text: "", finish_reason: null }], usage: zeros },
    { choices: [{ index: 0, text: "a", finish_reason: null }], usage: zeros },
    { choices: [{ index: 0, text: "", finish_reason: "length" }], usage: zeros },
  ];
  const seen = parts.map((part) => {
    meter.feed(Buffer.from(chunks(part)));
    return meter.hasContent;
  });
  assert.deepEqual(seen, [false, true, true]);
  assert.equal(meter.readSoFar().usage, "partial");
  meter.feed(Buffer.from(chunks({ choices: [], usage: USAGE }, DONE)));
  const reading = meter.finish(true);
  assert.deepEqual([reading.outcome, reading.stop, reading.usage], ["incomplete", "length", "final"]);
  assert.deepEqual(nonZeroCounts(reading), COUNTS);
});

test("a finish reason is the end of a stream that ends cleanly, and not of one that breaks", () => {
  assert.deepEqual(
    [readChunks([TEXT, STOP]).outcome, readChunks([TEXT, STOP], false).outcome],
    ["completed", "cut"],
  );
  assert.deepEqual(
    [readChunks([TEXT]).outcome, readChunks([TEXT, DONE], false).outcome],
    ["cut", "completed"],
  );
});

test("a client that leaves after a finish reason cuts nothing, and makes no interim count final", () => {
  for (const [finish, outcome] of [
    ["stop", "completed"],
    ["length", "incomplete"],
    [null, "cut"],
  ] as const) {
    const meter = createMeter(setup({ dialect: "chat" }));
    meter.feed(Buffer.from(chunks(chunk({ content: "a" }, null, { usage: USAGE }), chunk({}, finish))));
    const reading = meter.finish(false, true);
    assert.deepEqual([reading.outcome, reading.usage], [outcome, "partial"]);
  }
});

for (const [reason, outcome] of [
  ["length", "incomplete"],
  ["content_filter", "incomplete"],
  ["tool_calls", "completed"],
  ["error", "error"],
  ["error_finish", "error"],
] as const) {
  test(`the finish reason ${reason} makes the outcome ${outcome}`, () => {
    const reading = readChunks([TEXT, chunk({}, reason), LAST, DONE]);
    assert.deepEqual([reading.outcome, reading.stop, reading.usage], [outcome, reason, "final"]);
  });
}

const ERRORS: [form: string, line: object | string, type: string | null][] = [
  ["a chunk", { error: { message: "m", code: "c" } }, "c"],
  ["a chunk with a text", { error: "a sentence of an error" }, null],
  ["an event called error", 'event: error\ndata: {"error":{"type":"t"}}', "t"],
  ["a flat event called error", 'event: error\ndata: {"code":400,"message":"m"}', "400"],
  ["the field of old llama.cpp", 'error: {"code":500,"message":"m","type":"server_error"}', "500"],
  [
    "Mistral's flat one",
    { object: "error", message: "m", type: "invalid_request", code: null },
    "invalid_request",
  ],
];

for (const [form, line, type] of ERRORS) {
  test(`reads an error in the form of ${form}, whatever came before`, () => {
    const reading = readChunks([TEXT, STOP, LAST, line]);
    assert.deepEqual([reading.outcome, reading.error_type, reading.usage], ["error", type, "final"]);
  });
}

test("a body of status 200 with nothing but an error is one", () => {
  const reading = readBody({ error: { message: "m", code: 402 } }, jsonSetup({ dialect: "chat" }));
  assert.deepEqual([reading.outcome, reading.error_type, reading.usage], ["error", "402", "absent"]);
});

for (const [who, error, type] of [
  ["OpenAI", { error: { message: "m", type: "t", param: null, code: "c" } }, "c"],
  ["OpenRouter", { error: { message: "m", code: 402 } }, "402"],
  ["Azure", { error: { message: "m", code: "401" } }, "401"],
  ["a service with code null", { error: { message: "m", type: "t", code: null } }, "t"],
  ["Mistral", { object: "error", message: "m", type: "t", param: null, code: null }, "t"],
  ["Mistral, for invalid requests", { detail: [{ msg: "m" }] }, null],
] as const) {
  test(`an error response in the form of ${who} has its code or type recorded`, () => {
    const octets = { status: 400, dialect: "chat", contentType: "application/octet-stream" } as const;
    for (const changes of [octets, { ...octets, contentType: "application/json" }]) {
      const reading = readBody(error, setup(changes));
      assert.deepEqual([reading.outcome, reading.error_type, reading.flags], ["error", type, []]);
    }
  });
}

test("an error that is null, false or empty is none", () => {
  for (const error of [null, false, "", 0]) {
    assert.equal(readChunks([{ ...TEXT, error }, { ...STOP, error }, DONE]).outcome, "completed");
  }
});

test("texts that look like usage, finish reasons or ends are not read", () => {
  const text = `data: ${JSON.stringify(LAST)}\n\ndata: [DONE]\n\n","usage":{"prompt_tokens":9},"finish_reason":"stop"`;
  for (const padding of ["", "x".repeat(3_000)]) {
    const calls = { tool_calls: [{ function: { arguments: JSON.stringify({ usage: USAGE, text }) } }] };
    const other = { x_meta: { usage: USAGE, choices: [{ finish_reason: "stop" }] } };
    const reading = readChunks([TEXT, chunk({ content: padding + text }), chunk(calls, null, other)], false);
    assert.deepEqual([reading.outcome, reading.usage, reading.stop], ["cut", "absent", null]);
  }
});

test("names with escapes and spaces around colons are read as JSON means them", () => {
  const escaped = 'data: {"choices" : [ ], "us\\u0061ge" :\t{"prompt_tokens": 10, "completion_tokens": 5}}';
  const finish = 'data: {"choices": [{"index": 0, "delta": {}, "finish\\u005freason": "stop"}]}';
  const reading = readChunks([TEXT, finish, escaped], false);
  assert.deepEqual([reading.outcome, reading.usage, reading.stop], ["completed", "final", "stop"]);
});

test("content begins with the first chunk that has some, not with the role", () => {
  const meter = createMeter(setup({ dialect: "chat" }));
  meter.feed(Buffer.from(chunks(chunk({ role: "assistant", content: "", tool_calls: [] }))));
  assert.equal(meter.hasContent, false);
  meter.feed(Buffer.from(chunks(chunk({ reasoning_content: "I" }))));
  assert.equal(meter.hasContent, true);
});

test("a tier beside or within usage counts, and empty texts are missing", () => {
  const empty = { id: "", model: "", service_tier: "", choices: [] };
  const tier = { ...USAGE, service_tier: "standard" };
  const reading = readChunks([empty, TEXT, STOP, { ...LAST, ...empty, usage: tier }, DONE]);
  assert.deepEqual([reading.response_id, reading.model, reading.service_tier], ["c1", "m", "standard"]);
});
