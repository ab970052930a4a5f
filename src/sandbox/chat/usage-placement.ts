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

type Place = (chunks: readonly Chunk[], report: Report) => JsonObject[];

/** Returns a stream with its usage in the given place. The last of `chunks` has the last choice's finish reason. */
export function placeUsage(
  placement: UsagePlacement,
  chunks: readonly Chunk[],
  report: Report,
): StreamItem[] {
  const placed = PLACES[placement](chunks, report);
  const end = placement === "after-done" ? chunks.length : placed.length;
  return [...placed.slice(0, end), DONE, ...placed.slice(end)];
}

const PLACES: Readonly<Record<UsagePlacement, Place>> = {
  asked: (chunks, report) => (report.isAsked ? PLACES.unasked(chunks, report) : [...chunks]),
  bare: (chunks, { usage, isAsked }) => (isAsked ? [...chunks, closing(chunks, { usage })] : [...chunks]),
  unasked: (chunks, { usage }) => [...withUsage(chunks, null), closing(chunks, { usage })],
  "null-choices": (chunks, { usage }) => [...chunks, closing(chunks, { choices: null, usage })],
  "extra-choice": (chunks, { usage }) => [
    ...chunks,
    closing(chunks, { choices: [idleChoice(chunks)], usage }),
  ],
  finish: (chunks, { usage }) => onLast(chunks, { usage }),
  choice: (chunks, { usage }) => onLast(chunks, { choices: inChoices(chunks, usage) }),
  "x-groq": (chunks, { usage }) => onLast(chunks, { x_groq: { usage } }),
  "x-groq-too": (chunks, { usage }) => onLast(chunks, { usage, x_groq: { usage } }),
  every: (chunks, { usageAfter }) =>
    chunks.map((chunk, at) => ({ ...chunk, usage: usageAfter(at + 1, chunks.length) })),
  "every-null": (chunks, { usage }) => {
    const unknown = { completion_tokens: null, total_tokens: null, completion_tokens_details: null };
    return onLast(withUsage(chunks, { ...usage, ...unknown }), { usage });
  },
  zeros: (chunks, { usage }) => {
    const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    return onLast(withUsage(chunks, zeros), { usage });
  },
  "then-null": (chunks, report) => [...PLACES.unasked(chunks, report), closing(chunks, { usage: null })],
  "after-done": (chunks, { usage }) => [...chunks, closing(chunks, { usage })],
  timings: (chunks, { timings }) => onLast(chunks, { timings }),
};

function withUsage(chunks: readonly Chunk[], usage: JsonObject | null): JsonObject[] {
  return chunks.map((chunk) => ({ ...chunk, usage }));
}

/** Returns a chunk after the last one, without choices unless `more` has some. */
function closing(chunks: readonly Chunk[], more: JsonObject): JsonObject {
  return { ...chunks.at(-1), choices: [], ...more };
}

function onLast(chunks: readonly JsonObject[], more: JsonObject): JsonObject[] {
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
