import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { MeterSetup } from "../../src/core/usage/meter.ts";
import { createMeter } from "../../src/core/usage/meter.ts";
import type { MeterReading } from "../../src/core/usage/reading.ts";
import { jsonSetup, setup, stream } from "../core/usage/response-bodies.ts";
import { CORPUS_MISSING, listCorpus, readBody, setupOf } from "../core/usage/corpus.ts";
import { assertInvariants } from "../core/usage/invariants.ts";
import { damages, applyDamage } from "./damage.ts";
import { splitIntoChunks, chunking, type Chunking } from "./chunking.ts";
import { property, type Property } from "./property.ts";
import { randomBody } from "./random-body.ts";
import { anyChunk, anyDocument, anyGeminiChunk, anyMessagesEvent, anyResponsesEvent } from "./usages.ts";

const SSE = "text/event-stream";

const anySetup: fc.Arbitrary<MeterSetup> = fc.record({
  dialect: fc.constantFrom(
    "messages",
    "messages",
    "responses",
    "responses",
    "chat",
    "chat",
    "gemini",
    "gemini",
    "none",
  ),
  spend: fc.constantFrom("count", "count", "attach_by_response_id", "never"),
  status: fc.constantFrom(200, 200, 200, 400),
  contentType: fc.constantFrom(SSE, "text/event-stream; charset=utf-8", "application/json", null),
  inputIncludesCache: fc.boolean(),
});

/** A reading without the estimate, for which damaged events count in another way if they come in parts. */
type Counted = Omit<MeterReading, "output_estimate">;

function withoutEstimate({ output_estimate: _estimate, ...counted }: MeterReading): Counted {
  return counted;
}

/** Feeds the chunks to a meter, which is also read after each. Returns its last reading and whether it saw content. */
function meterAll(under: MeterSetup, chunks: Iterable<Buffer>, isComplete: boolean): [Counted, boolean] {
  const meter = createMeter(under);
  for (const chunk of chunks) {
    meter.feed(chunk);
    assertInvariants(meter.readSoFar());
  }
  return [withoutEstimate(meter.finish(isComplete)), meter.hasContent];
}

function assertChunkingIrrelevant(
  under: MeterSetup,
  body: Buffer,
  chunks: Chunking,
  isComplete: boolean,
): void {
  const meter = createMeter(under);
  meter.feed(body);
  const [reading, sawContent] = [meter.finish(isComplete), meter.hasContent];
  assertInvariants(reading);
  const expected = [withoutEstimate(reading), sawContent];
  assert.deepEqual(meterAll(under, splitIntoChunks(body, chunks), isComplete), expected);
}

/** Long chunks are never skipped. */
function assertSkippingIrrelevant(chunks: object[], isComplete: boolean): void {
  const under = setup({ dialect: "chat" });
  const short = stream(chunks);
  const long = short.replaceAll("}\n\n", `${" ".repeat(1_000)}}\n\n`);
  const [whole, padded] = [short, long].map((body) => meterAll(under, [Buffer.from(body)], isComplete));
  assert.deepEqual(whole, padded);
}

/** Larger bodies would take the time of many cases and find nothing more. */
const LARGEST_BODY_BYTES = 40_000;

const BODIES = listCorpus().flatMap((file) => {
  const body = readBody(file);
  return body.length > LARGEST_BODY_BYTES ? [] : [{ under: setupOf(file), body }];
});

const recorded = fc.nat().map((n) => BODIES[n % BODIES.length] ?? { under: setup(), body: Buffer.alloc(0) });

/** A stream of any events, or one document, and the meter's set-up for it. */
const responses: fc.Arbitrary<{ under: MeterSetup; body: string }> = fc.oneof(
  fc.record({ under: setupFor("messages", SSE), body: fc.array(anyMessagesEvent).map(stream) }),
  fc.record({ under: setupFor("responses", SSE), body: fc.array(anyResponsesEvent).map(stream) }),
  fc.record({
    under: setupFor("chat", SSE),
    body: fc
      .tuple(fc.array(anyChunk), fc.constantFrom("", "data: [DONE]\n\n"))
      .map(([chunks, end]) => stream(chunks) + end),
  }),
  fc.record({
    under: setupFor("gemini", SSE),
    body: fc
      .tuple(fc.array(anyGeminiChunk), fc.constantFrom("", '{\n"error": {\n"code": 5\n}\n}\n'))
      .map(([chunks, end]) => stream(chunks) + end),
  }),
  fc.record({
    under: setupFor("gemini", "application/json"),
    body: fc.oneof(fc.array(anyGeminiChunk), anyGeminiChunk).map((body) => JSON.stringify(body)),
  }),
  fc.record({
    under: fc.oneof(setupFor("messages", null), setupFor("responses", null), setupFor("chat", null)),
    body: anyDocument.map((document) => JSON.stringify(document)),
  }),
);

function setupFor(dialect: MeterSetup["dialect"], contentType: string | null): fc.Arbitrary<MeterSetup> {
  return anySetup.map((under) => ({ ...under, dialect, contentType, spend: "count", status: 200 }));
}

const SINGLE_BYTES: Chunking = { maxBytes: 1, seed: 0 };

const FOUND_IN_RANDOM_BODIES: [MeterSetup, Buffer, Chunking, boolean][] = [
  // A type with a control character, which is not JSON, was ignored in one chunk and flagged in two.
  [setup(), Buffer.from('data: {"type":"a\u0002"}\n\n'), SINGLE_BYTES, true],
  // Of two types the first one counted in one chunk, the last one in two.
  [setup(), Buffer.from('data: {"type":"ping","type":"error","error":{"type":"e"}}\n\n'), SINGLE_BYTES, true],
  // An incomplete event whose line ends with a brace was ignored in one chunk and flagged in two.
  [setup(), Buffer.from('data: {"type":"ping","a":{}\n'), SINGLE_BYTES, false],
  // White space before the first field was lost when it came in its own chunk, which made the line a field.
  [setup(), Buffer.from(" data: "), SINGLE_BYTES, false],
];

const FOUND_IN_USAGE: [{ under: MeterSetup; body: string }, Chunking, boolean][] = [
  // Sums above 2^53 - 1 were not exact.
  [
    {
      under: jsonSetup({ dialect: "responses" }),
      body: '{"usage":{"input_tokens":1,"output_tokens":9007199254740991}}',
    },
    SINGLE_BYTES,
    true,
  ],
];

export const METERS: readonly Property[] = [
  property(
    "meter: the reading of a random body does not depend on its chunks, and its counts add up",
    { batch: 1000, found: FOUND_IN_RANDOM_BODIES },
    fc.property(anySetup, randomBody, chunking, fc.boolean(), assertChunkingIrrelevant),
  ),
  property(
    "meter: the reading of arbitrary usage does not depend on its chunks, and its counts add up",
    { batch: 300, found: FOUND_IN_USAGE },
    fc.property(responses, chunking, fc.boolean(), ({ under, body }, chunks, isComplete) =>
      assertChunkingIrrelevant(under, Buffer.from(body), chunks, isComplete),
    ),
  ),
  property(
    "meter: the reading of a chat stream does not depend on which of its chunks are skipped",
    { batch: 300 },
    fc.property(fc.array(anyChunk), fc.boolean(), assertSkippingIrrelevant),
  ),
  property(
    "meter: the reading of a damaged recorded body does not depend on its chunks, and its counts add up",
    { batch: 150, missing: CORPUS_MISSING },
    fc.property(
      recorded,
      damages,
      recorded,
      chunking,
      fc.boolean(),
      (one, damage, other, chunks, isComplete) =>
        assertChunkingIrrelevant(one.under, applyDamage(one.body, damage, other.body), chunks, isComplete),
    ),
  ),
];
