import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { MeterSetup } from "../../src/core/usage/meter.ts";
import { jsonSetup, setup } from "../core/usage/answers.ts";
import { feedOnAndOn, MAY_RETAIN_BYTES } from "../core/usage/retained.ts";
import { property, type Property } from "./property.ts";
import { soup } from "./soup.ts";
import { words } from "./words.ts";

/** Twice what may stay: a meter that keeps all it is given is found out. */
const FED_BYTES = 2 * MAY_RETAIN_BYTES;

const setups: fc.Arbitrary<MeterSetup> = fc.constantFrom(
  setup(),
  setup({ dialect: "responses" }),
  setup({ status: 400 }),
  jsonSetup(),
  jsonSetup({ dialect: "responses" }),
);

/** What opens something that need not end. */
const OPENINGS =
  words(`event: : data: data:{" data:{"type":" data:{"type":"message_delta","usage": { {" {"model":"
  {"usage":{"a":[" {"usage":[ {"error": {"a":`);

const text = soup.map((bytes) => bytes.toString("latin1"));
const head = fc.oneof(text, fc.constantFrom(...OPENINGS));
const filler = fc.oneof(text, fc.stringMatching(/^[x",:[\]{}\\1 ]{1,10}$/));

export const MEMORY: readonly Property[] = [
  property(
    "memory: a meter holds no more than it states, whatever comes without end",
    { batch: 6 },
    fc.property(setups, head, filler, (under, first, then) => {
      const { retained } = feedOnAndOn(under, first, then === "" ? " " : then, FED_BYTES);
      assert.ok(retained < MAY_RETAIN_BYTES, `${retained} bytes of ${FED_BYTES}`);
    }),
  ),
];
