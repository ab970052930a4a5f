import assert from "node:assert/strict";
import * as fc from "fast-check";
import { isObject, type JsonObject } from "../../src/core/json.ts";
import { asCount } from "../../src/core/usage/fields.ts";
import { createMeter } from "../../src/core/usage/meter.ts";
import type { MeterReading } from "../../src/core/usage/reading.ts";
import { readModelPath, replaceModel } from "../../src/core/http/gemini/model-path.ts";
import { assertInvariants } from "../core/usage/invariants.ts";
import { setup } from "../core/usage/response-bodies.ts";
import { chunking, splitIntoChunks, type Chunking } from "./chunking.ts";
import { property, type Property } from "./property.ts";
import { trickyText } from "./tricky-text.ts";
import { anyGeminiChunk } from "./usages.ts";

/** Text with what ends an element, an object or a line of the form around it. */
const anyText = fc.oneof(
  trickyText,
  fc.constantFrom("}]", '"},{"', "},\r\n{", "data: {}", "\n\n", ']}\n\n{"error":{}}', "[DONE]", "\\", "\\\\"),
);

/** A chunk as Google sends it, whose counts add up, with any text. */
const saneChunk: fc.Arbitrary<JsonObject> = fc.record(
  {
    candidates: fc.tuple(
      fc.record(
        {
          content: fc.record({ parts: fc.array(fc.record({ text: anyText }), { maxLength: 2 }) }),
          finishReason: fc.constantFrom("STOP", "MAX_TOKENS"),
        },
        { requiredKeys: [] },
      ),
    ),
    usageMetadata: fc.oneof(
      fc.constant({ trafficType: "ON_DEMAND" }),
      fc
        .tuple(fc.nat(9999), fc.nat(99), fc.nat(99), fc.nat(99))
        .map(([prompt, candidates, thoughts, toolUse]) => ({
          promptTokenCount: prompt + 1,
          candidatesTokenCount: candidates,
          thoughtsTokenCount: thoughts,
          toolUsePromptTokenCount: toolUse,
          totalTokenCount: prompt + 1 + candidates + thoughts + toolUse,
        })),
    ),
    responseId: fc.constantFrom("r-1", "r-2"),
    unread: fc
      .anything({ withNullPrototype: false, maxDepth: 3 })
      .map((value) => JSON.stringify(value) ?? null),
    ['"]}\\']: anyText,
  },
  { requiredKeys: [] },
);

/** How chunks stand in a body. */
type Form = "list" | "pretty list" | "events" | "CRLF events";
const FORMS: readonly Form[] = ["list", "pretty list", "events", "CRLF events"];

/** A body, and where each of its chunks ends. */
function write(chunks: readonly object[], form: Form): { body: Buffer; ends: number[] } {
  const isList = form.endsWith("list");
  const space = form === "pretty list" ? 2 : 0;
  const end = form === "CRLF events" ? "\r\n\r\n" : "\n\n";
  const ends: number[] = [];
  let text = isList ? "[" : "";
  for (const [i, chunk] of chunks.entries()) {
    if (isList && i > 0) text += form === "list" ? "," : "\r\n,\r\n";
    text += isList ? JSON.stringify(chunk, null, space) : `data: ${JSON.stringify(chunk)}${end}`;
    ends.push(Buffer.byteLength(text));
  }
  return { body: Buffer.from(isList ? `${text}]` : text), ends };
}

/** What JSON.parse and the rule make of chunks: the last usage that counts, whole. */
function expectationOf(chunks: readonly JsonObject[]): [raw: unknown, stop: unknown, id: unknown] {
  let [raw, stop, id]: unknown[] = [null, null, null];
  for (const chunk of JSON.parse(JSON.stringify(chunks)) as JsonObject[]) {
    const { usageMetadata: usage, candidates, responseId } = chunk;
    if (isObject(usage) && asCount(usage["promptTokenCount"]) !== null) raw = usage;
    const [first] = Array.isArray(candidates) ? (candidates as unknown[]) : [];
    if (isObject(first)) stop = first["finishReason"] ?? stop;
    id = responseId ?? id;
  }
  return [raw, stop, id];
}

function meter(form: Form, pieces: Iterable<Buffer>, isWhole: boolean): MeterReading {
  const contentType = form.endsWith("list") ? "application/json" : "text/event-stream";
  const reader = createMeter(setup({ dialect: "gemini", contentType }));
  for (const piece of pieces) reader.feed(piece);
  const reading = reader.finish(isWhole);
  assertInvariants(reading);
  return reading;
}

/** The reading of a body, and of each beginning of it, is that of its complete chunks. */
function assertSplitsRight(chunks: readonly JsonObject[], form: Form, pieces: Chunking, cut: number): void {
  const { body, ends } = write(chunks, form);
  const whole = meter(form, splitIntoChunks(body, pieces), true);
  assert.deepEqual([whole.raw_usage, whole.stop, whole.response_id], expectationOf(chunks));
  assert.deepEqual(whole.flags, []);
  if (chunks.length > 0) assert.notEqual(whole.outcome, "cut");
  const length = Math.floor(cut * body.length);
  const part = meter(form, splitIntoChunks(body.subarray(0, length), pieces), false);
  // An event counts with its closing brace: its line need not have ended.
  const blank = form === "events" ? 2 : form === "CRLF events" ? 4 : 0;
  const complete = chunks.filter((_, i) => (ends[i] ?? 0) - blank <= length);
  assert.deepEqual([part.raw_usage, part.stop, part.response_id], expectationOf(complete));
  assert.notEqual(part.usage, "final");
}

/** A list and a stream of any chunks say the same. */
function assertFormIrrelevant(chunks: readonly object[], pieces: Chunking): void {
  const [first, ...others] = FORMS.map((form) => {
    const { body } = write(chunks, form);
    return meter(form, splitIntoChunks(body, pieces), true);
  });
  for (const other of others) assert.deepEqual(other, first);
}

const pathPart = fc.oneof(
  fc.constantFrom(
    "models",
    "tunedModels",
    "endpoints",
    "publishers",
    "google",
    "projects",
    "p",
    "locations",
    "eu",
  ),
  fc.constantFrom(
    "v1",
    "v1beta",
    ".",
    "..",
    "%2e",
    "%2F",
    "%3A",
    "%3a",
    "%25",
    ";",
    ":",
    "@",
    "//",
    "\\",
    " ",
  ),
  fc.constantFrom(
    "cheap",
    "dear",
    ":generateContent",
    "%3AgenerateContent",
    ":countTokens",
    "generateContent",
  ),
  fc.string({ maxLength: 3 }),
);

const path = fc
  .tuple(
    fc.constantFrom("/v1beta/", "/v1/", "/v1beta1/", "/"),
    fc.constantFrom("models/", "publishers/google/models/", "tunedModels/", ""),
    fc.array(fc.oneof(pathPart, fc.constant("/")), { maxLength: 6 }),
    fc.constantFrom(":generateContent", "%3AcountTokens", ""),
  )
  .map(([version, head, parts, action]) => version + head + parts.join("") + action);

/** A server that decodes, once or twice, and resolves dots, must find the same model, and no other action. */
function assertOneReading(raw: string): void {
  const found = readModelPath(raw);
  if (found === null) return;
  for (const decoded of [decodeURIComponent(raw), decodeURIComponent(decodeURIComponent(raw))]) {
    const { pathname } = new URL(`http://host${decoded}`);
    assert.equal(pathname, decoded);
    const [resource = "", ...actions] = decoded.slice(decoded.lastIndexOf("/") + 1).split(":");
    assert.equal(resource, found.model.slice(found.model.lastIndexOf("/") + 1));
    assert.deepEqual(actions, found.action === null ? [] : [found.action]);
  }
  const again = replaceModel(raw, found, found.model);
  assert.equal(again === null ? null : readModelPath(again)?.model, found.model);
}

export const GEMINI: readonly Property[] = [
  property(
    "gemini: a list or a stream gives what JSON.parse finds on the whole, and cut anywhere that of its complete chunks",
    { batch: 150 },
    fc.property(
      fc.array(saneChunk, { maxLength: 6 }),
      fc.constantFrom(...FORMS),
      chunking,
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      assertSplitsRight,
    ),
  ),
  property(
    "gemini: any chunks give the same as a list and as a stream",
    { batch: 150 },
    fc.property(fc.array(anyGeminiChunk, { minLength: 1, maxLength: 5 }), chunking, assertFormIrrelevant),
  ),
  property(
    "gemini: a path that names a model names it for every server on the way",
    { batch: 2000 },
    fc.property(path, assertOneReading),
  ),
];
