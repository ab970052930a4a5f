import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { MeterSetup } from "../../src/core/usage/meter.ts";
import { createMeter } from "../../src/core/usage/meter.ts";
import type { Reading } from "../../src/core/usage/reading.ts";
import { jsonSetup, setup, stream } from "../core/usage/answers.ts";
import { CORPUS_MISSING, listCorpus, readBody, setupOf } from "../core/usage/corpus.ts";
import { assertInvariants } from "../core/usage/invariants.ts";
import { damages, inflict } from "./damage.ts";
import { cutUp, piecing, type Piecing } from "./pieces.ts";
import { property, type Property } from "./property.ts";
import { soup } from "./soup.ts";
import { anyDocument, anyMessagesEvent, anyResponsesEvent } from "./usages.ts";

const SSE = "text/event-stream";

const anySetup: fc.Arbitrary<MeterSetup> = fc.record({
  dialect: fc.constantFrom("messages", "messages", "responses", "responses", "none"),
  spend: fc.constantFrom("count", "count", "attach_by_response_id", "never"),
  status: fc.constantFrom(200, 200, 200, 400),
  contentType: fc.constantFrom(SSE, "text/event-stream; charset=utf-8", "application/json", null),
  inputIncludesCache: fc.boolean(),
});

/** What a meter makes of a body that comes in these chunks, and whether it saw content in it. */
function meterAll(under: MeterSetup, chunks: Iterable<Buffer>, whole: boolean): [Reading, boolean] {
  const meter = createMeter(under);
  for (const chunk of chunks) meter.feed(chunk);
  return [meter.finish(whole), meter.sawContent];
}

function judge(under: MeterSetup, body: Buffer, pieces: Piecing, whole: boolean): void {
  const [reading, sawContent] = meterAll(under, [body], whole);
  assertInvariants(reading);
  assert.deepEqual(meterAll(under, cutUp(body, pieces), whole), [reading, sawContent]);
}

/** Larger ones would spend the time of many cases, and say nothing that the smaller do not. */
const LARGEST_BODY_BYTES = 40_000;

const BODIES = listCorpus().flatMap((file) => {
  const body = readBody(file);
  return body === null || body.length > LARGEST_BODY_BYTES ? [] : [{ under: setupOf(file), body }];
});

const recorded = fc.nat().map((n) => BODIES[n % BODIES.length] ?? { under: setup(), body: Buffer.alloc(0) });

/** A stream of any events, or one document, with the set-up that it is read under. */
const answers: fc.Arbitrary<{ under: MeterSetup; body: string }> = fc.oneof(
  fc.record({ under: setupFor("messages", SSE), body: fc.array(anyMessagesEvent).map(stream) }),
  fc.record({ under: setupFor("responses", SSE), body: fc.array(anyResponsesEvent).map(stream) }),
  fc.record({
    under: fc.oneof(setupFor("messages", null), setupFor("responses", null)),
    body: anyDocument.map((document) => JSON.stringify(document)),
  }),
);

function setupFor(dialect: MeterSetup["dialect"], contentType: string | null): fc.Arbitrary<MeterSetup> {
  return anySetup.map((under) => ({ ...under, dialect, contentType, spend: "count", status: 200 }));
}

const SINGLE_BYTES: Piecing = { longest: 1, seed: 0 };

const FOUND_IN_SOUP: [MeterSetup, Buffer, Piecing, boolean][] = [
  // A type with a control character, which is no JSON, was passed over in one chunk and flagged in two.
  [setup(), Buffer.from('data: {"type":"a\u0002"}\n\n'), SINGLE_BYTES, true],
  // Of two types the first counted in one chunk, the last in two.
  [setup(), Buffer.from('data: {"type":"ping","type":"error","error":{"type":"e"}}\n\n'), SINGLE_BYTES, true],
  // A half event whose line ends with a brace was passed over in one chunk and flagged in two.
  [setup(), Buffer.from('data: {"type":"ping","a":{}\n'), SINGLE_BYTES, false],
  // White space before the first field was lost when it came alone, and made a field of what was none.
  [setup(), Buffer.from(" data: "), SINGLE_BYTES, false],
];

const FOUND_IN_USAGE: [{ under: MeterSetup; body: string }, Piecing, boolean][] = [
  // Sums of counts beyond 2^53 - 1 were not exact.
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
    "meter: any soup of bytes is read the same however it is pieced, and its counts add up",
    { batch: 1000, found: FOUND_IN_SOUP },
    fc.property(anySetup, soup, piecing, fc.boolean(), judge),
  ),
  property(
    "meter: usage of any values is read the same however it is pieced, and its counts add up",
    { batch: 300, found: FOUND_IN_USAGE },
    fc.property(answers, piecing, fc.boolean(), ({ under, body }, pieces, whole) =>
      judge(under, Buffer.from(body), pieces, whole),
    ),
  ),
  property(
    "meter: a recorded body, damaged, is read the same however it is pieced, and its counts add up",
    { batch: 150, missing: CORPUS_MISSING },
    fc.property(recorded, damages, recorded, piecing, fc.boolean(), (one, damage, other, pieces, whole) =>
      judge(one.under, inflict(one.body, damage, other.body), pieces, whole),
    ),
  ),
];
