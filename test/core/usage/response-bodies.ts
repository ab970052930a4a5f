import assert from "node:assert/strict";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import type { MeterReading } from "../../../src/core/usage/reading.ts";
import { meterChunks, singleBytes } from "./corpus.ts";

const SETUP: MeterSetup = {
  dialect: "messages",
  spend: "count",
  status: 200,
  contentType: "text/event-stream",
  inputIncludesCache: false,
};

/** Returns a usual meter setup with these changes. */
export function setup(changes: Partial<MeterSetup> = {}): MeterSetup {
  return { ...SETUP, ...changes };
}

/** Returns a meter setup for a response of one JSON document. */
export function jsonSetup(changes: Partial<MeterSetup> = {}): MeterSetup {
  return setup({ contentType: "application/json", ...changes });
}

/** Returns an event stream of these events. */
export function stream(events: object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

/** Reads a body, and asserts that the reading is the same in one chunk and byte by byte. */
export function readBody(body: string | object, changed: MeterSetup, isWhole = true): MeterReading {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const reading = meterChunks(changed, [bytes], isWhole);
  assert.deepEqual(meterChunks(changed, singleBytes(bytes), isWhole), reading);
  return reading;
}

/** Reads a Messages stream that has the first usage in its start, and each of the others in a delta. */
export function readUsages(usages: object[], changes: Partial<MeterSetup> = {}): MeterReading {
  return readBody(stream(messageEvents(usages)), setup(changes));
}

/** Returns the events of a complete Messages stream. The last usage comes with the stop reason. */
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

/** Returns the token counts that are not 0, without the sums. */
export function nonZeroCounts({ tokens }: MeterReading): Record<string, number> {
  const { input_total: _input, total: _total, ...counts } = tokens ?? {};
  return Object.fromEntries(
    Object.entries(counts).filter((entry): entry is [string, number] => entry[1] !== null && entry[1] !== 0),
  );
}
