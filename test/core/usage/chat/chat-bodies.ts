import type { MeterReading } from "../../../../src/core/usage/reading.ts";
import { jsonSetup, readBody, setup } from "../response-bodies.ts";

/** Returns a chunk of a stream with one choice. */
export function chunk(delta: object, finish: string | null = null, more: object = {}): object {
  return { id: "c1", model: "m", choices: [{ index: 0, delta, finish_reason: finish }], ...more };
}

/** Returns a stream of these chunks; strings are lines as they are. */
export function chunks(...parts: (object | string)[]): string {
  const lines = parts.map((part) => (typeof part === "string" ? part : `data: ${JSON.stringify(part)}`));
  return lines.map((line) => `${line}\n\n`).join("");
}

export const DONE = "data: [DONE]";

/** Reads a stream of these chunks, in one piece and byte by byte. */
export function readChunks(parts: (object | string)[], isWhole = true): MeterReading {
  return readBody(chunks(...parts), setup({ dialect: "chat" }), isWhole);
}

/** Reads a chat completion with this usage. */
export function readUsage(usage: object, more: object = {}): MeterReading {
  const choices = [{ index: 0, message: { content: "a" }, finish_reason: "stop" }];
  return readBody({ id: "c1", model: "m", choices, usage, ...more }, jsonSetup({ dialect: "chat" }));
}
