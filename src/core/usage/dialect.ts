import type { Fields, Shape } from "./json/json-scan.ts";
import type { Outcome, Reading, Tokens, UsageState } from "./reading.ts";

/** Puts one answer together from the parts of it that its dialect wants. */
export interface Answer {
  /** An event of a stream, of a type that the dialect wants; JSON already read. */
  takeEvent(type: string, fields: Fields): void;
  /** The whole of an answer that is no stream. */
  takeBody(fields: Fields): void;
  /** Has the event come that ends a stream? */
  readonly isOver: boolean;
  /** What the answer comes to if nothing follows, as an object of its own. Whether that is spend is for the route to say. */
  learn(): Reading;
}

/** One API's way to tell usage: which parts of an answer to read, and how. */
export interface Dialect {
  /** What to read of an event's data. */
  readonly event: Shape;
  /** The events to read; all others are skipped, whatever they carry. */
  readonly eventTypes: readonly string[];
  /** What to read of an answer that is no stream. */
  readonly body: Shape;
  /** Does an event of this type carry a piece of the model's answer? */
  isContent(type: string): boolean;
  createAnswer(setup: { inputIncludesCache: boolean }): Answer;
}

/** Longest kept usage object, bytes; about 250 sampling iterations of a tool loop fit. */
export const USAGE_BYTES = 64 * 1024;

/** Longest kept name, id or reason, bytes. */
export const TEXT_BYTES = 1024;

/** Most kept sets of extra tokens: each takes a few hundred bytes of a record, and an empty one three of an answer. */
export const MOST_EXTRA = 256;

/** How sure the counts are: the service's last word, or what it said on the way there. */
export function usageStateOf(tokens: Tokens | null, isLastWord: boolean): UsageState {
  if (tokens === null) return "absent";
  return isLastWord ? "final" : "partial";
}

/** An answer that told nothing but how it ended: a new object, to be filled in with what it did tell. */
export function nothingLearned(outcome: Outcome, usage: UsageState): Reading {
  return {
    outcome,
    stop: null,
    error_type: null,
    usage,
    response_id: null,
    model: null,
    service_tier: null,
    speed: null,
    inference_geo: null,
    tokens: null,
    extra: [],
    server_tools: {},
    raw_usage: null,
    flags: [],
    spend: "never",
  };
}
