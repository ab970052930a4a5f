import type { JsonObject } from "../../core/json.ts";
import { pickObjects } from "../json.ts";
import type { UsagePlacement } from "../switches.ts";
import type { ChatUsage } from "./usage.ts";

/** One chunk of a stream. */
export interface Chunk extends JsonObject {
  choices: JsonObject[];
}

/** What a stream sends: chunks, and the mark of its end. */
export type StreamItem = JsonObject | typeof DONE;

export const DONE = "[DONE]";

/** What is to be placed in a stream. */
interface Report {
  usage: ChatUsage;
  /** Returns the usage when so many of all chunks are sent. */
  usageAfter: (sent: number, all: number) => ChatUsage;
  timings: JsonObject;
  /** Whether the client asked for usage. */
  isAsked: boolean;
}

type Place = (chunks: readonly Chunk[], report: Report) => StreamItem[];

/** Returns a stream with its usage in the given place. The last of `chunks` has the last choice's finish reason. */
export function placeUsage(
  placement: UsagePlacement,
  chunks: readonly Chunk[],
  report: Report,
): StreamItem[] {
  return PLACES[placement](chunks, report);
}

const PLACES: Readonly<Record<UsagePlacement, Place>> = {
  asked: (chunks, report) => (report.isAsked ? PLACES.unasked(chunks, report) : [...chunks, DONE]),
  bare: (chunks, report) =>
    report.isAsked ? [...chunks, closing(chunks, { usage: report.usage }), DONE] : [...chunks, DONE],
  unasked: (chunks, { usage }) => [...withNull(chunks), closing(chunks, { usage }), DONE],
  "null-choices": (chunks, { usage }) => [...chunks, closing(chunks, { choices: null, usage }), DONE],
  "extra-choice": (chunks, { usage }) => [
    ...chunks,
    closing(chunks, { choices: [idleChoice(chunks)], usage }),
    DONE,
  ],
  finish: (chunks, { usage }) => [...onLast(chunks, { usage }), DONE],
  choice: (chunks, { usage }) => [...onLast(chunks, { choices: inChoices(chunks, usage) }), DONE],
  "x-groq": (chunks, { usage }) => [...onLast(chunks, { x_groq: { usage } }), DONE],
  "x-groq-too": (chunks, { usage }) => [...onLast(chunks, { usage, x_groq: { usage } }), DONE],
  every: (chunks, { usageAfter }) => [
    ...chunks.map((chunk, at) => ({ ...chunk, usage: usageAfter(at + 1, chunks.length) })),
    DONE,
  ],
  "every-null": (chunks, { usage }) => {
    const interim = {
      ...usage,
      completion_tokens: null,
      total_tokens: null,
      completion_tokens_details: null,
    };
    return [
      ...onLast(
        chunks.map((chunk) => ({ ...chunk, usage: interim })),
        { usage },
      ),
      DONE,
    ];
  },
  zeros: (chunks, { usage }) => {
    const interim = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    return [
      ...onLast(
        chunks.map((chunk) => ({ ...chunk, usage: interim })),
        { usage },
      ),
      DONE,
    ];
  },
  "then-null": (chunks, { usage }) => [
    ...withNull(chunks),
    closing(chunks, { usage }),
    closing(chunks, { usage: null }),
    DONE,
  ],
  "after-done": (chunks, { usage }) => [...chunks, DONE, closing(chunks, { usage })],
  timings: (chunks, { timings }) => [...onLast(chunks, { timings }), DONE],
};

function withNull(chunks: readonly Chunk[]): JsonObject[] {
  return chunks.map((chunk) => ({ ...chunk, usage: null }));
}

/** Returns a chunk after the last one, without choices unless `more` has some. */
function closing(chunks: readonly Chunk[], more: JsonObject): JsonObject {
  return { ...chunks.at(-1), choices: [], ...more };
}

function onLast(chunks: readonly Chunk[], more: JsonObject): JsonObject[] {
  return [...chunks.slice(0, -1), { ...chunks.at(-1), ...more }];
}

/** Returns a choice that says nothing and does not finish. */
function idleChoice(chunks: readonly Chunk[]): JsonObject {
  const [choice] = pickObjects(chunks.at(-1)?.choices);
  return { ...choice, finish_reason: null };
}

function inChoices(chunks: readonly Chunk[], usage: ChatUsage): JsonObject[] {
  return pickObjects(chunks.at(-1)?.choices).map((choice) => ({ ...choice, usage }));
}
