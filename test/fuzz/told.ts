import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { Reading } from "../../src/core/usage/reading.ts";
import { jsonSetup, setup } from "../core/usage/answers.ts";
import { meterChunks } from "../core/usage/corpus.ts";
import { assertInvariants } from "../core/usage/invariants.ts";
import { framing, writeStream } from "./framing.ts";
import { cutUp, piecing } from "./pieces.ts";
import { property, type Property } from "./property.ts";
import type { ToldAnswer } from "./told-answer.ts";
import { toldMessages } from "./told-messages.ts";
import { toldResponses } from "./told-responses.ts";

const told: fc.Arbitrary<ToldAnswer> = fc.oneof(toldMessages, toldResponses);

function assertAsTold(reading: Reading, { expected }: ToldAnswer): void {
  assertInvariants(reading);
  assert.deepEqual({ ...reading, ...expected }, reading);
}

/** Where a stream of so many bytes is cut: every second time close to the end of its last word. */
function cutAt(anywhere: number, length: number, lastWord: number): number {
  const close = lastWord - 20 + (anywhere % 40);
  return anywhere % 2 === 0 ? anywhere % length : Math.min(length, close);
}

export const TOLD: readonly Property[] = [
  property(
    "told answer: a valid stream is read exactly, however it is written and pieced",
    { batch: 300 },
    fc.property(told, framing, piecing, (answer, written, pieces) => {
      const { body } = writeStream(answer.events, written);
      const under = setup({ dialect: answer.dialect });
      assertAsTold(meterChunks(under, cutUp(body, pieces)), answer);
    }),
  ),
  property(
    "told answer: a stream that is cut is final only when the last word on usage was said, and then exact",
    { batch: 300 },
    fc.property(told, framing, fc.nat(), (answer, written, anywhere) => {
      const { body, ends } = writeStream(answer.events, written);
      const end = ends[answer.lastWord] ?? NaN;
      const length = cutAt(anywhere, body.length, end);
      const reading = meterChunks(setup({ dialect: answer.dialect }), [body.subarray(0, length)], false);
      assertInvariants(reading);
      assert.equal(reading.usage === "final", length >= end);
      if (length >= end) assert.deepEqual(reading.tokens, answer.expected.tokens);
    }),
  ),
  property(
    "told answer: a valid document is read exactly, and tells nothing when it is cut",
    { batch: 300 },
    fc.property(told, piecing, fc.nat(), (answer, pieces, anywhere) => {
      const under = jsonSetup({ dialect: answer.dialect });
      const body = Buffer.from(JSON.stringify(answer.document));
      assertAsTold(meterChunks(under, cutUp(body, pieces)), answer);
      const cut = meterChunks(under, [body.subarray(0, anywhere % body.length)], false);
      assert.deepEqual([cut.outcome, cut.tokens, cut.spend], ["cut", null, "never"]);
    }),
  ),
];
