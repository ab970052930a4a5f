import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { MeterReading } from "../../src/core/usage/reading.ts";
import { jsonSetup, setup } from "../core/usage/response-bodies.ts";
import { meterChunks } from "../core/usage/corpus.ts";
import { assertInvariants } from "../core/usage/invariants.ts";
import { framing, writeStream } from "./framing.ts";
import { splitIntoChunks, chunking } from "./chunking.ts";
import { property, type Property } from "./property.ts";
import type { ValidResponse } from "./valid-response.ts";
import { validMessagesResponse } from "./valid-messages-response.ts";
import { validResponsesResponse } from "./valid-responses-response.ts";

const validResponse: fc.Arbitrary<ValidResponse> = fc.oneof(validMessagesResponse, validResponsesResponse);

function assertExact(reading: MeterReading, { expected }: ValidResponse): void {
  assertInvariants(reading);
  assert.deepEqual({ ...reading, ...expected }, reading);
}

/** Chooses the length of a truncated stream: every second time close to where its usage becomes final. */
function chooseLength(anywhere: number, length: number, usageEnd: number): number {
  const close = usageEnd - 20 + (anywhere % 40);
  return anywhere % 2 === 0 ? anywhere % length : Math.min(length, close);
}

export const VALID_RESPONSES: readonly Property[] = [
  property(
    "valid response: the reading of a stream is exact, however it is written and divided into chunks",
    { batch: 300 },
    fc.property(validResponse, framing, chunking, (response, written, chunks) => {
      const { body } = writeStream(response.events, written);
      const under = setup({ dialect: response.dialect });
      assertExact(meterChunks(under, splitIntoChunks(body, chunks)), response);
    }),
  ),
  property(
    "valid response: the usage of a truncated stream is final only after its last usage event, and exact from then on",
    { batch: 300 },
    fc.property(validResponse, framing, fc.nat(), (response, written, anywhere) => {
      const { body, ends } = writeStream(response.events, written);
      const end = ends[response.finalUsageEvent] ?? NaN;
      const length = chooseLength(anywhere, body.length, end);
      const reading = meterChunks(setup({ dialect: response.dialect }), [body.subarray(0, length)], false);
      assertInvariants(reading);
      assert.equal(reading.usage === "final", length >= end);
      if (length >= end) assert.deepEqual(reading.tokens, response.expected.tokens);
    }),
  ),
  property(
    "valid response: the reading of a document is exact, and a truncated document has no usage",
    { batch: 300 },
    fc.property(validResponse, chunking, fc.nat(), (response, chunks, anywhere) => {
      const under = jsonSetup({ dialect: response.dialect });
      const body = Buffer.from(JSON.stringify(response.document));
      assertExact(meterChunks(under, splitIntoChunks(body, chunks)), response);
      const cut = meterChunks(under, [body.subarray(0, anywhere % body.length)], false);
      assert.deepEqual([cut.outcome, cut.tokens, cut.spend], ["cut", null, "never"]);
    }),
  ),
];
