import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeterReading } from "../../../../src/core/usage/reading.ts";
import { createMeter } from "../../../../src/core/usage/meter.ts";
import { meterChunks } from "../corpus.ts";
import { jsonSetup, nonZeroCounts, readBody, setup, stream } from "../response-bodies.ts";

const STREAM = setup({ dialect: "gemini" });
const JSON_BODY = jsonSetup({ dialect: "gemini" });

function chunk(usageMetadata: object | null, finishReason?: unknown, text = "a"): object {
  return {
    candidates: [{ content: { parts: [{ text }], role: "model" }, finishReason, index: 0 }],
    ...(usageMetadata === null ? {} : { usageMetadata }),
    modelVersion: "gemini-2.5-flash",
    responseId: "r-1",
  };
}

const usage = (prompt: number, candidates: number, more: object = {}) => ({
  promptTokenCount: prompt,
  candidatesTokenCount: candidates,
  totalTokenCount: prompt + candidates,
  ...more,
});

/** Reads chunks as an event stream and as a list, which must give the same. */
function readBoth(chunks: object[], isWhole = true): MeterReading {
  const reading = readBody(stream(chunks), STREAM, isWhole);
  const list = isWhole ? JSON.stringify(chunks) : JSON.stringify(chunks).slice(0, -1);
  const ofList = readBody(list, JSON_BODY, isWhole);
  // A list that was cut is not valid JSON.
  assert.deepEqual({ ...ofList, flags: ofList.flags.filter((flag) => flag !== "bad_json") }, reading);
  return reading;
}

test("takes the last usage of a stream whole: no field of an earlier one counts, and none is added", () => {
  const first = {
    ...usage(87, 21),
    thoughtsTokenCount: 35,
    totalTokenCount: 143,
    cachedContentTokenCount: 40,
  };
  const last = { promptTokenCount: 87, thoughtsTokenCount: 78, totalTokenCount: 165 };
  const reading = readBoth([chunk(first), chunk(null), chunk(last, "STOP")]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 87, output: 78, reasoning: 78 });
  assert.deepEqual([reading.raw_usage, reading.usage, reading.flags], [last, "final", []]);
});

test("keeps the counts when a later chunk has none, a traffic type alone, or zeros, and flags the zeros", () => {
  const good = usage(10, 5);
  for (const [later, flags] of [
    [null, []],
    [{ trafficType: "ON_DEMAND" }, []],
    [usage(0, 0), ["delta_zero_placeholder"]],
  ] as const) {
    const reading = readBoth([chunk(good), chunk(later, "STOP")]);
    assert.deepEqual([reading.raw_usage, reading.flags], [good, flags]);
    assert.equal(reading.usage, flags.length === 0 ? "final" : "partial");
  }
});

test("calls a stream complete only when its body ended as announced, whatever its finish reasons say", () => {
  const chunks = [chunk(usage(10, 1), "STOP"), chunk(usage(10, 5), "STOP")];
  const whole = readBoth(chunks);
  assert.deepEqual([whole.outcome, whole.usage, whole.spend], ["completed", "final", "count"]);
  const cut = readBoth(chunks, false);
  assert.deepEqual([cut.outcome, cut.usage, cut.spend, cut.tokens?.output], ["cut", "partial", "count", 5]);
});

const readLeft = (chunks: object[]) => {
  const meter = createMeter(STREAM);
  meter.feed(Buffer.from(stream(chunks)));
  return [meter.isFinished, meter.finish(false, true)] as const;
};

test("calls a stream complete that the client left after the counts that came with the finish reason", () => {
  const [isFinished, { outcome, usage: state }] = readLeft([
    chunk(usage(10, 1)),
    chunk(usage(10, 5), "STOP"),
  ]);
  assert.deepEqual([isFinished, outcome, state], [true, "completed", "final"]);
  const [isOver, early] = readLeft([chunk(usage(10, 1))]);
  assert.deepEqual([isOver, early.outcome, early.usage], [false, "cut", "partial"]);
});

const readUnframed = (body: string) => {
  const meter = createMeter(JSON_BODY);
  meter.feed(Buffer.from(body));
  return meter.finish(true, false, false);
};

test("tells by its bracket that a list is whole, also in a body without a length", () => {
  const list = JSON.stringify([chunk(usage(10, 1)), chunk(usage(10, 5))]);
  assert.deepEqual([readUnframed(list).outcome, readUnframed(list).usage], ["completed", "final"]);
  const cut = readUnframed(list.slice(0, -1));
  assert.deepEqual([cut.outcome, cut.usage, cut.flags], ["cut", "partial", ["bad_json"]]);
});

test("reads an error in every form: as a document, in a list, in an event, and bare within a stream", () => {
  const error = { error: { code: 503, message: "overloaded: a, b", status: "UNAVAILABLE", details: [] } };
  const pretty = JSON.stringify(error, null, 2);
  const started = stream([chunk(usage(10, 5))]);
  for (const body of [
    `${started}data: ${JSON.stringify(error)}\n\n`,
    `${started}${pretty}\n`,
    `${started}${pretty.replaceAll("\n", "\r\n")}\r\n\r\n`,
    `${started}${JSON.stringify(error)}`,
    `${started}${JSON.stringify(error)}\ndata: {"candidates":[]}\n\n`,
    `event: error\n${started}${pretty}`,
  ]) {
    const { outcome, error_type: type, usage: state, tokens, flags } = readBody(body, STREAM);
    assert.deepEqual(
      [outcome, type, state, tokens?.total, flags],
      ["error", "UNAVAILABLE", "partial", 15, []],
    );
  }
  for (const body of [error, [error], [chunk(null), error]]) {
    const { outcome, error_type: type, usage: state, tokens } = readBody(JSON.stringify(body), JSON_BODY);
    assert.deepEqual([outcome, type, state, tokens], ["error", "UNAVAILABLE", "absent", null]);
  }
  for (const body of [JSON.stringify(error), JSON.stringify([error]), `\n[${pretty}\n]\n`]) {
    const { outcome, error_type: type } = readBody(body, jsonSetup({ dialect: "gemini", status: 503 }));
    assert.deepEqual([outcome, type], ["error", "UNAVAILABLE"]);
  }
});

test("does not take a line of another API's stream that begins with a brace for an error", () => {
  const body = `${stream([{ choices: [{ index: 0, delta: { content: "a" } }] }])}{"error":{"type":"x"}}\n\n`;
  assert.equal(readBody(`${body}data: [DONE]\n\n`, setup({ dialect: "chat" })).outcome, "completed");
});

test("calls everything but STOP and a missing reason incomplete, also a number, and keeps an unknown word", () => {
  for (const [reason, outcome, stop] of [
    ["STOP", "completed", "STOP"],
    [1, "completed", "STOP"],
    [undefined, "completed", null],
    ["FINISH_REASON_UNSPECIFIED", "completed", null],
    [0, "completed", null],
    ["MAX_TOKENS", "incomplete", "MAX_TOKENS"],
    [2, "incomplete", "MAX_TOKENS"],
    [10, "incomplete", "10"],
    ["MODEL_ARMOR", "incomplete", "MODEL_ARMOR"],
    ["no word at all", "incomplete", "OTHER"],
  ] as const) {
    const reading = readBoth([chunk(usage(1, 1), reason)]);
    assert.deepEqual([reading.outcome, reading.stop, reading.usage], [outcome, stop, "final"]);
  }
});

test("takes the reason of the first candidate, and that of another one where the first has none", () => {
  const both = { candidates: [{ index: 1, finishReason: "SAFETY" }, { finishReason: "STOP" }] };
  assert.equal(readBoth([both]).stop, "STOP");
  assert.equal(readBoth([{ candidates: [{}, { index: 1, finishReason: "SAFETY" }] }]).stop, "SAFETY");
});

test("records why a prompt was blocked, and counts what the service counted of it", () => {
  const blocked = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, modelVersion: "m" };
  const without = readBoth([blocked]);
  assert.deepEqual(
    [without.outcome, without.stop, without.usage],
    ["incomplete", "PROHIBITED_CONTENT", "absent"],
  );
  const counted = readBoth([{ ...blocked, usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } }]);
  assert.deepEqual([counted.usage, counted.spend, counted.tokens?.total], ["final", "count", 9]);
});

test("leaves `models/` out of the name of the model that served", () => {
  assert.equal(
    readBoth([{ ...chunk(usage(1, 1)), modelVersion: "models/gemini-2.5-pro" }]).model,
    "gemini-2.5-pro",
  );
});

const searched = (...queries: unknown[]) => ({
  candidates: [{ groundingMetadata: { webSearchQueries: queries } }],
});

test("counts distinct searches that are not empty, over all chunks and candidates", () => {
  assert.deepEqual(readBoth([searched("a", "", "b"), searched("b", "c", 5)]).server_tools, { web_search: 3 });
  assert.deepEqual(readBoth([searched("")]).server_tools, {});
});

test("says that searches are cut short where they were too many to tell apart", () => {
  const queries = Array.from({ length: 200 }, (_, i) => `a rather long query with the number ${i}`);
  const reading = readBoth([{ candidates: [{ groundingMetadata: { webSearchQueries: queries } }] }]);
  assert.deepEqual(reading.flags, ["extra_cut_short"]);
});

test("keeps no query and no sentence in a reading", () => {
  const secret = "my secret plan";
  const reading = readBoth([
    {
      candidates: [{ finishReason: secret, groundingMetadata: { webSearchQueries: [secret] } }],
      promptFeedback: { blockReason: secret },
      usageMetadata: {
        promptTokenCount: 1,
        note: secret,
        promptTokensDetails: [{ modality: secret, tokenCount: 1 }],
      },
      error: { status: secret, message: secret },
    },
  ]);
  assert.doesNotMatch(JSON.stringify(reading), /secret/);
});

test("tells output from the first chunk with content on, and estimates the text of a stream that was cut", () => {
  const meter = createMeter(JSON_BODY);
  meter.feed(Buffer.from(`[${JSON.stringify({ usageMetadata: { trafficType: "ON_DEMAND" } })}`));
  assert.equal(meter.hasContent, false);
  meter.feed(Buffer.from(`,${JSON.stringify(chunk(null, undefined, "some words of the model"))}`));
  assert.equal(meter.hasContent, true);
  const { output_estimate: estimate, usage: state } = meter.finish(false);
  assert.equal(state, "absent");
  assert.ok(estimate !== null && estimate >= 4 && estimate <= 8, `${estimate}`);
});

test("reads an interaction that is still running as pending, and one that failed as failed", () => {
  const interaction = {
    id: "v1_a",
    model: "gemini-3.5-flash",
    usage: { total_tokens: 3, total_input_tokens: 3 },
  };
  const running = readBody({ ...interaction, status: "in_progress" }, JSON_BODY);
  assert.deepEqual(
    [running.outcome, running.usage, running.spend, running.tokens],
    ["in_progress", "pending", "attach_by_response_id", null],
  );
  const failed = readBody({ ...interaction, status: "failed" }, JSON_BODY);
  assert.deepEqual([failed.outcome, failed.stop, failed.tokens?.total], ["failed", "failed", 3]);
});

test("calls a stream of an interaction cut that has no last event, and complete with it however it closed", () => {
  const created = { event_type: "interaction.created", interaction: { id: "v1_a", status: "in_progress" } };
  const delta = { event_type: "step.delta", delta: { type: "text", text: "a" } };
  const completed = {
    event_type: "interaction.completed",
    interaction: {
      id: "v1_a",
      status: "completed",
      usage: { total_input_tokens: 2, total_output_tokens: 1, total_tokens: 3 },
    },
  };
  const cut = meterChunks(STREAM, [Buffer.from(stream([created, delta]))], false);
  assert.deepEqual([cut.outcome, cut.usage, cut.stop, cut.response_id], ["cut", "absent", null, "v1_a"]);
  const whole = meterChunks(STREAM, [Buffer.from(stream([created, delta, completed]))], false);
  assert.deepEqual([whole.outcome, whole.usage, whole.stop], ["completed", "final", "completed"]);
});

test("names the storage of a cached content, whose counts are no usage of the request", () => {
  for (const name of ["cachedContents/abc", "projects/p/locations/eu/cachedContents/4711"]) {
    const reading = readBody(
      { name, model: "models/m", usageMetadata: { totalTokenCount: 3512 } },
      JSON_BODY,
    );
    assert.deepEqual(
      [reading.outcome, reading.usage, reading.spend, reading.tokens, reading.server_tools],
      ["completed", "absent", "never", null, { cache_storage: 1 }],
    );
  }
});

const one = (tokens: number) => ({
  embeddings: { statistics: { token_count: tokens, truncated: false }, values: [0.1] },
});

test("adds up the embeddings that Vertex counts one by one", () => {
  const reading = readBody({ predictions: [one(4), one(6)] }, JSON_BODY);
  assert.deepEqual([reading.usage, nonZeroCounts(reading)], ["final", { input_uncached: 10 }]);
  const many = readBody({ predictions: Array.from({ length: 200 }, () => one(1)) }, JSON_BODY);
  assert.deepEqual([many.tokens?.total, many.flags], [128, ["extra_cut_short"]]);
});

const picture = { mimeType: "image/png", bytesBase64Encoded: "A".repeat(5_000) };
const withheld = { raiFilteredReason: "withheld by a filter" };

test("counts the pictures of Imagen, which have no tokens, and none that was withheld", () => {
  for (const [predictions, usageState, spend, made] of [
    [[picture, picture, { gcsUri: "gs://b/1.png", mimeType: "image/jpeg" }], "none", "count", { picture: 3 }],
    [[picture, withheld], "none", "count", { picture: 1 }],
    [[withheld], "absent", "never", {}],
    [[{ mimeType: "audio/wav", audioContent: "AAAA" }], "absent", "never", {}],
    [[], "absent", "never", {}],
  ] as const) {
    const reading = readBody({ predictions }, JSON_BODY);
    assert.deepEqual(
      [reading.outcome, reading.usage, reading.spend, reading.tokens, reading.server_tools],
      ["completed", usageState, spend, null, made],
    );
  }
});

test("counts no pictures of a response that was cut, or has an error", () => {
  const body = { predictions: [picture] };
  const cut = readBody(JSON.stringify(body).slice(0, -1), JSON_BODY, false);
  assert.deepEqual([cut.outcome, cut.usage, cut.server_tools], ["cut", "absent", {}]);
  const failed = readBody({ ...body, error: { code: 500, status: "INTERNAL" } }, JSON_BODY);
  assert.deepEqual([failed.outcome, failed.usage, failed.server_tools], ["error", "absent", {}]);
});
