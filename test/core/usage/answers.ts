import assert from "node:assert/strict";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import type { Reading } from "../../../src/core/usage/reading.ts";
import { meterChunks, singleBytes } from "./corpus.ts";

const SETUP: MeterSetup = {
  dialect: "messages",
  spend: "count",
  status: 200,
  contentType: "text/event-stream",
  inputIncludesCache: false,
};

/** A set-up that is usual but for what is named. */
export function setup(changes: Partial<MeterSetup> = {}): MeterSetup {
  return { ...SETUP, ...changes };
}

/** A set-up for an answer of one JSON document. */
export function jsonSetup(changes: Partial<MeterSetup> = {}): MeterSetup {
  return setup({ contentType: "application/json", ...changes });
}

/** A stream of these events, named by their type if they have one. */
export function stream(events: object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

/** The reading of a body; the same in one chunk and byte by byte. */
export function readBody(body: string | object, changed: MeterSetup, whole = true): Reading {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const reading = meterChunks(changed, [bytes], whole);
  assert.deepEqual(meterChunks(changed, singleBytes(bytes), whole), reading);
  return reading;
}

/** The reading of a Messages stream: a start with the first usage, a delta for each of the others, the end. */
export function readUsages(usages: object[], changes: Partial<MeterSetup> = {}): Reading {
  return readBody(stream(messageEvents(usages)), setup(changes));
}

/** A whole Messages stream; the last usage comes with the stop reason. */
export function messageEvents([first, ...rest]: object[], stop = "end_turn"): object[] {
  const deltas = rest.map((usage, i) => ({
    type: "message_delta",
    delta: { stop_reason: i === rest.length - 1 ? stop : null },
    usage,
  }));
  return [
    { type: "message_start", message: { id: "msg_1", model: "m", usage: first } },
    ...deltas,
    { type: "message_stop" },
  ];
}

/** A tokens object's counts that are not 0, without the sums. */
export function counted({ tokens }: Reading): Record<string, number> {
  const { input_total: _input, total: _total, ...counts } = tokens ?? {};
  return Object.fromEntries(
    Object.entries(counts).filter((entry): entry is [string, number] => entry[1] !== null && entry[1] !== 0),
  );
}
