import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { MeterSetup } from "../../src/core/usage/meter.ts";
import { jsonSetup, setup } from "../core/usage/response-bodies.ts";
import { feedRepeatedly, MAX_RETAINED_BYTES } from "../core/usage/retained.ts";
import { property, type Property } from "./property.ts";
import { randomBody } from "./random-body.ts";
import { splitWords } from "./words.ts";

/** Twice what may be retained, so that a meter that keeps everything fails. */
const FED_BYTES = 2 * MAX_RETAINED_BYTES;

const setups: fc.Arbitrary<MeterSetup> = fc.constantFrom(
  setup(),
  setup({ dialect: "responses" }),
  setup({ status: 400 }),
  jsonSetup(),
  jsonSetup({ dialect: "responses" }),
);

/** Beginnings of something that need not end. */
const OPENINGS =
  splitWords(`event: : data: data:{" data:{"type":" data:{"type":"message_delta","usage": { {" {"model":"
  {"usage":{"a":[" {"usage":[ {"error": {"a":`);

const text = randomBody.map((bytes) => bytes.toString("latin1"));
const head = fc.oneof(text, fc.constantFrom(...OPENINGS));
const filler = fc.oneof(text, fc.stringMatching(/^[x",:[\]{}\\1 ]{1,10}$/));

export const MEMORY: readonly Property[] = [
  property(
    "memory: a meter retains no more than its stated limit of any endless body",
    { batch: 6 },
    fc.property(setups, head, filler, (under, first, then) => {
      const { retained } = feedRepeatedly(under, first, then === "" ? " " : then, FED_BYTES);
      assert.ok(retained < MAX_RETAINED_BYTES, `${retained} bytes of ${FED_BYTES}`);
    }),
  ),
];
