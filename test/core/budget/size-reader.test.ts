import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import * as fc from "fast-check";
import { SizeReader } from "../../../src/core/budget/size-reader.ts";

function sizeOf(body: string, pieceBytes = Infinity) {
  const bytes = Buffer.from(body);
  const reader = new SizeReader();
  const step = Math.min(pieceBytes, Math.max(1, bytes.length));
  for (let at = 0; at < bytes.length; at += step) reader.feed(bytes.subarray(at, at + step));
  return reader.size;
}

/** Returns the size, which must be the same in any chunking. */
function size(body: string | object) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const whole = sizeOf(text);
  for (const pieceBytes of text.length < 2_000 ? [1, 2, 3, 7] : [1_000])
    assert.deepEqual(sizeOf(text, pieceBytes), whole, `in pieces of ${pieceBytes}`);
  return whole;
}

for (const [what, members, output] of [
  ["nothing", "", 4_096],
  ["max_tokens", '"max_tokens":100', 100],
  ["max_completion_tokens", '"max_completion_tokens" : 100 ', 100],
  ["max_output_tokens", '"max_output_tokens":100', 100],
  ["a number in quotes", '"max_tokens":"4096000"', 4_096_000],
  ["an exponent", '"max_tokens":1e5', 100_000],
  ["an exponent in quotes", '"max_tokens":" 1E+5 "', 100_000],
  ["a fraction", '"max_tokens":100000.0', 100_000],
  ["a fraction that is rounded", '"max_tokens":99.5', 100],
  ["an escaped name", String.raw`"max\u005ftokens":100000`, 100_000],
  ["a name in capitals", '"Max_Tokens":100000', 100_000],
  ["a name with a zero byte", String.raw`"max_tokens\u0000":100000`, 100_000],
  ["no limit in words", '"max_tokens":null', 4_096],
  ["no limit in numbers", '"max_tokens":-1', 4_096],
  ["a limit that is no number", '"max_tokens":"many"', 4_096],
  ["two limits", '"max_tokens":100,"max_completion_tokens":5000', 5_000],
  ["the same limit twice", '"max_tokens":5000,"max_tokens":100', 5_000],
  ["a limit in extra_body", '"max_tokens":10,"extra_body":{"max_tokens":5000}', 5_000],
  ["a limit where none is", '"metadata":{"max_tokens":5000},"messages":[{"max_tokens":9}]', 4_096],
  ["a limit in a text", String.raw`"input":"\"max_tokens\":5000"`, 4_096],
  ["several choices", '"n":8,"max_tokens":100', 800],
  ["several choices in quotes, with nothing else", '"n":"8"', 8 * 4_096],
  ["choices of which the best is sent", '"best_of":20,"n":2,"max_tokens":100', 2_000],
  ["several prompts", '"prompt":["a","b",["c"],"d"],"max_tokens":100', 400],
  ["a prompt of tokens", '"prompt":[1,2,3],"max_tokens":100', 100],
  [
    "thinking within the limit",
    '"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":8000}',
    9_000,
  ],
  ["thinking above the limit", '"max_tokens":9000,"thinking":{"budget_tokens":20000}', 29_000],
  ["thinking without a limit", '"thinking":{"type":"enabled","budget_tokens":16000}', 16_000],
  ["a limit of Bedrock's", '"inferenceConfig":{"maxTokens":100}', 100],
  ["reasoning of a gateway", '"reasoning":{"max_tokens":16000}', 16_000],
] as const)
  test(`the output that a request allows is read of a body with ${what}`, () => {
    assert.equal(size(`{"model":"m"${members === "" ? "" : `,${members}`}}`).output, output);
  });

const pieces = (body: object | string) => size(body).choices;

test("films and pictures are counted for each instance, in any spelling", () => {
  const instances = [{ prompt: "a [cat], {a dog}" }, { prompt: "b", image: { mimeType: "image/png" } }, {}];
  assert.deepEqual(
    [
      pieces({ instances }),
      pieces({ instances, parameters: { sampleCount: 4 } }),
      pieces({ parameters: { sampleCount: "4" }, instances: [] }),
      pieces(String.raw`{"inst\u0061nces":[{"prompt":"a"},{"prompt":"b"}],"parameters":{"sampleCount":2}}`),
      pieces({ contents: [{ instances }] }),
    ],
    [3, 12, 4, 4, 1],
  );
});

const asked = (members: object) => size({ model: "m", ...members }).reasons;

test("whether a model is asked to reason is read in each API", () => {
  assert.deepEqual(
    [
      asked({}),
      asked({ thinking: { type: "adaptive" } }),
      asked({ thinking: { type: "disabled" } }),
      asked({ reasoning: { effort: "high" } }),
      asked({ reasoning: { effort: "none" } }),
      asked({ reasoning_effort: "low" }),
      asked({ reasoning_effort: "none" }),
      asked({ messages: [{ reasoning_effort: "low" }] }),
    ],
    [null, true, false, true, false, true, false, null],
  );
});

const base64 = (start: readonly number[] | string, bytes: number) =>
  Buffer.concat([Buffer.from(start), randomBytes(bytes)]).toString("base64");

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const MB = 1_048_576;
const FILES = {
  png: base64(PNG, MB),
  jpeg: base64([0xff, 0xd8, 0xff, 0xe0], MB),
  gif: base64("GIF89a", MB),
  webp: base64([...Buffer.from("RIFF"), 1, 2, 3, 4, ...Buffer.from("WEBPVP8 ")], MB),
  heic: base64([0, 0, 0, 32, ...Buffer.from("ftypheic")], MB),
};
const PDF = base64("%PDF-1.7\n", MB);
const SOUNDS = {
  wav: base64([...Buffer.from("RIFF"), 1, 2, 3, 4, ...Buffer.from("WAVEfmt ")], MB),
  mp3: base64("ID3", MB),
  "mp3 without a tag": base64([0xff, 0xfb, 0x90], MB),
  ogg: base64("OggS", MB),
  flac: base64("fLaC", MB),
};

const messages = (content: unknown) => ({ model: "m", messages: [{ role: "user", content }] });

for (const [kind, data] of Object.entries(FILES))
  test(`a picture (${kind}) in base64 counts as 5,000 tokens, wherever an API has it`, () => {
    for (const body of [
      messages([{ type: "image", source: { type: "base64", media_type: "image/png", data } }]),
      messages([{ image: { format: "png", source: { bytes: data } } }]),
      messages([{ type: "image", source: { data, media_type: "image/png", type: "base64" } }]),
      messages([
        {
          type: "tool_result",
          tool_use_id: "t",
          content: [{ type: "image", source: { type: "base64", data } }],
        },
      ]),
      messages([{ type: "image_url", image_url: { url: `data:image/${kind};base64,${data}` } }]),
      {
        model: "m",
        input: [{ content: [{ type: "input_image", image_url: `data:image/png;base64,${data}` }] }],
      },
      {
        model: "m",
        input: [{ type: "function_call_output", output: [{ image_url: `data:;base64,${data}` }] }],
      },
      messages([{ type: "file", file: { filename: "a", file_data: `data:image/png;base64,${data}` } }]),
      JSON.stringify(messages([{ type: "image", source: { type: "base64", data } }])).replaceAll(
        "/",
        String.raw`\/`,
      ),
    ])
      assert.ok(size(body).input > 5_000 && size(body).input < 5_200, String(size(body).input));
  });

test("a small picture counts by its size, and each of several counts", () => {
  const source = { type: "base64", data: base64(PNG, 292) };
  assert.ok(size(messages([{ type: "image", source }])).input < 200);
  const many = Array.from({ length: 20 }, () => ({ type: "image", source: { data: FILES.png } }));
  assert.ok(size(messages(many)).input >= 100_000);
});

test("a picture that the service fetches counts, too", () => {
  const url = "https://example.com/a.png";
  for (const part of [
    { type: "image", source: { type: "url", url } },
    { type: "image_url", image_url: { url } },
    { type: "input_image", image_url: url },
  ])
    assert.ok(size(messages([part])).input > 5_000);
});

const near = (tokens: number, expected: number) =>
  assert.ok(Math.abs(tokens - expected) < 60, `${tokens}, not ${expected}`);

test("a PDF counts a token for every 7 bytes, and sound for every 30", () => {
  near(size(messages([{ type: "document", source: { type: "base64", data: PDF } }])).input, PDF.length / 7);
  for (const [kind, data] of Object.entries(SOUNDS)) {
    const part = { type: "input_audio", input_audio: { data, format: kind } };
    near(size(messages([part])).input, data.length / 30);
  }
});

test("base64 that a model reads as text counts as text, however it looks", () => {
  const data = FILES.png;
  for (const body of [
    messages(data),
    messages([{ type: "text", text: `data:image/png;base64,${data}` }]),
    messages([{ type: "tool_use", name: "x", input: { source: { type: "base64", data }, image_url: data } }]),
    messages([{ type: "tool_result", content: [{ type: "text", text: data }] }]),
    { model: "m", tools: [{ name: "x", input_schema: { default: { source: { data } } } }] },
    {
      model: "m",
      tools: [{ function: { name: "x", parameters: { image_url: `data:image/png;base64,${data}` } } }],
    },
    { model: "m", messages: [{ data }] },
    messages([{ type: "document", source: { type: "text", data: "a".repeat(data.length) } }]),
    messages([{ type: "file", file: { file_data: `data:text/plain;base64,${base64("text", MB)}` } }]),
  ])
    assert.ok(size(body).input > data.length / 3, JSON.stringify(body).slice(0, 120));
});

test("what the service keeps is assumed, and the response that a request continues is named", () => {
  assert.equal(size({ model: "m", previous_response_id: "resp_1" }).previous, "resp_1");
  assert.equal(size({ model: "m", previous_response_id: null }).previous, null);
  for (const members of [
    { conversation: "conv_1" },
    { conversation: { id: "conv_1" } },
    { prompt: { id: "pmpt_1" } },
    { input: [{ content: [{ type: "input_file", file_id: "file_1" }] }] },
    { input: [{ content: [{ type: "input_file", file_url: "https://example.com/a.pdf" }] }] },
  ])
    assert.ok(size({ model: "m", ...members }).input > 32_000, JSON.stringify(members));
  assert.ok(size({ model: "m", conversation: null }).input < 100);
});

test("whatever a body is, its size is the same in any chunking, and never more than its bytes and its limits say", () => {
  const names = fc.constantFrom(
    "max_tokens",
    "n",
    "thinking",
    "budget_tokens",
    "data",
    "source",
    "input",
    "a",
    "url",
  );
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(1, 7, 1e5, "7", "x", null, true, 'a"b\\', FILES.png.slice(0, 200), "\\u0061"),
      fc.dictionary(names, tie("node"), { maxKeys: 3 }),
      fc.array(tie("node"), { maxLength: 3 }),
    ),
  })).node;
  fc.assert(
    fc.property(
      fc.dictionary(names, value, { maxKeys: 5 }),
      fc.integer({ min: 1, max: 40 }),
      (body, step) => {
        const text = JSON.stringify(body);
        const whole = sizeOf(text);
        assert.deepEqual(sizeOf(text, step), whole);
        assert.ok(whole.input <= Math.ceil(text.length / 3) + text.length);
        // Valid JSON or not, it never throws.
        sizeOf(text.slice(step));
        sizeOf(text.replaceAll(":", ","));
      },
    ),
    { numRuns: 500 },
  );
});

for (const [what, members, isLong] of [
  ["nothing", "", false],
  ["a cache of five minutes", '"cache_control":{"type":"ephemeral","ttl":"5m"}', false],
  ["a cache of the usual time", '"cache_control":{"type":"ephemeral"}', false],
  ["an hour's cache", '"cache_control":{"type":"ephemeral","ttl":"1h"}', true],
  ["one of a block", '"system":[{"type":"text","text":"a","cache_control":{"ttl":"1h"}}]', true],
  ["one of a message", '"messages":[{"content":[{"text":"a","cache_control":{"ttl":"1h"}}]}]', true],
  ["one of a tool", '"tools":[{"name":"a","input_schema":{},"cache_control":{"ttl":"1h"}}]', true],
  ["one in seconds", '"cache":{"ttl":3600}', true],
  ["an unknown one", '"cache_control":{"ttl":"2d"}', true],
  ["one of OpenAI's", '"prompt_cache_retention":"24h"', true],
  ["OpenAI's usual one", '"prompt_cache_retention":"in_memory"', false],
  ["none", '"cache_control":{"ttl":null}', false],
  ["a tool's argument", '"messages":[{"content":[{"type":"tool_use","input":{"ttl":"1h"}}]}]', false],
  ["a text", String.raw`"input":"\"ttl\":\"1h\""`, false],
] as const)
  test(`whether a cache is to last longer than usual is read of a body with ${what}`, () => {
    assert.equal(size(`{"model":"m"${members === "" ? "" : `,${members}`}}`).cachesLong, isLong);
  });

for (const [what, members, expected] of [
  ["nothing", "", {}],
  ["a faster tier", '"service_tier":"priority"', { tier: "priority" }],
  ["the usual tier", '"service_tier":"default","speed":"standard","inference_geo":"global"', {}],
  ["a choice of the service's", '"service_tier":"auto"', {}],
  ["a cheaper tier, which the service need not give", '"service_tier":"flex"', {}],
  ["null", '"service_tier":null,"speed":null', {}],
  ["a fast mode in a region", '"speed":"fast","inference_geo":"us"', { speed: "fast", geo: "us" }],
  ["another spelling", String.raw`"Service\u005ftier":"\u0070riority"`, { tier: "priority" }],
  ["Google's", '"serviceTier":"PRIORITY"', { tier: "priority" }],
  ["Google's cheaper one", '"serviceTier":"flex"', {}],
  ["Bedrock's", '"serviceTier":{"type":"priority"}', { tier: "priority" }],
  ["Bedrock's usual one, and another member", '"serviceTier":{"type":"default","other":"priority"}', {}],
  ["Bedrock's latency", '"performanceConfig":{"latency":"optimized"}', { speed: "optimized" }],
  ["Bedrock's usual latency", '"performanceConfig":{"latency":"standard"}', {}],
  ["one of a tool", '"tools":[{"serviceTier":{"type":"priority"}}]', {}],
  ["one in extra_body", '"extra_body":{"service_tier":"priority"}', { tier: "priority" }],
  ["two of which one is usual", '"service_tier":"priority","service_tier":"default"', { tier: "priority" }],
  ["two", '"service_tier":"priority","service_tier":"scale"', { tier: "priority or scale" }],
  ["one in a message", '"messages":[{"speed":"fast"}]', {}],
] as const)
  test(`whether a request may be dearer than usual is read of a body with ${what}`, () => {
    const { tier, speed, geo } = size(`{"model":"m"${members === "" ? "" : `,${members}`}}`);
    assert.deepEqual({ tier, speed, geo }, { tier: null, speed: null, geo: null, ...expected });
  });
