import type { JsonObject } from "../json.ts";
import type { Selection } from "./json/json-scanner.ts";
import type { TextMembers } from "./streamed-text.ts";
import type { Flag, MeterReading, Outcome, PICTURE, Tokens, UsageState, VIDEO_SECOND } from "./reading.ts";

/** Collects the usage of one response from the parts that its format selects. */
export interface UsageCollector {
  /** Adds a stream event of one of the format's `eventTypes`. */
  addEvent(type: string, fields: JsonObject): void;
  /** Adds the body of a response that is not a stream. */
  addBody(fields: JsonObject): void;
  /** True after the event that ends a stream. */
  readonly isFinished: boolean;
  /** True once an event with output of the model was added. Only for formats whose events have no type. */
  readonly hasContent: boolean;
  /**
   * Returns a new reading of what has been added so far. Its `spend` is left to the route. `isWhole`: the stream has ended as its
   * framing announced. `hasClientLeft`: the client disconnected before. Both matter only where no event says that it is complete.
   */
  toReading(isWhole: boolean, hasClientLeft: boolean): MeterReading;
}

/** What is known of a response besides its body. */
export interface CollectorSetup {
  /** True when the upstream includes cached tokens in the `input_tokens` of Messages (docs/wire.md section 9). */
  inputIncludesCache: boolean;
  /** What its headers say, at Amazon Bedrock. */
  said?: SaidInHeaders | null;
}

/** What the headers of a response of Amazon Bedrock say, and the path of its request (docs/wire.md section 14). */
export interface SaidInHeaders {
  /** Counts under the names of Bedrock's metrics: `inputTokenCount`. */
  counts: JsonObject;
  tier: string | null;
  /** The type of an error. */
  errorType: string | null;
  /** The model in the path. */
  asked: string | null;
}

/** How one API reports usage: which parts of a response to read, and how. */
export type UsageFormat = TypedFormat | UntypedFormat;

/** What all formats have. */
interface AnyFormat {
  /** What to read of a stream event's data, or of an element of a body that is a list. */
  readonly event: Selection;
  /** What to read of a response that is not a stream. */
  readonly body: Selection;
  /**
   * True where a body may be an array: each of its objects is an event of type `chunk`, and its end one of type `done`. Otherwise nothing
   * of an array is read.
   */
  readonly hasLists: boolean;
  /** True where a body is a JSON document on each line: each of its objects is an event of type `line`. */
  readonly hasLines?: true;
  /** True where a stream is one of binary frames: each of its events has the type that its frame says. */
  readonly hasFrames?: true;
  createCollector(setup: CollectorSetup): UsageCollector;
}

/** The format of an API whose stream events have no type. */
export interface UntypedFormat extends AnyFormat {
  /** True where most chunks are those of a chat with nothing to read but output of the model (chat/chunk-filter.ts). */
  readonly hasPlainChunks: boolean;
  /** True where an error may stand in a stream as JSON alone, without a field (docs/wire.md section 12). */
  readonly hasBareErrors: boolean;
}

/** The format of an API whose stream events have a type. */
export interface TypedFormat extends AnyFormat {
  /** The events to read. All others are skipped. */
  readonly eventTypes: readonly string[];
  /** Where events have output of the model as text. `event` selects the same as `TEXT`. */
  readonly texts: TextMembers;
  /** True when events of this type carry output of the model. */
  isContent(type: string): boolean;
}

export function isTyped(format: UsageFormat): format is TypedFormat {
  return "eventTypes" in format;
}

/** Limit for a usage object, in bytes. About 250 sampling iterations of a tool loop fit. */
export const USAGE_BYTES = 64 * 1024;

/** Limit for a name, id or reason, in bytes. */
export const TEXT_BYTES = 1024;

/** Limit for sets of extra tokens: each takes a few hundred bytes of a record, but as little as three of a response. */
export const MAX_EXTRA = 256;

/** The service contradicts itself, and nothing shows which of its figures is right (docs/wire.md section 9). */
const UNDECIDED: readonly Flag[] = [
  "cache_read_write_overlap",
  "counts_fell",
  "delta_zero_placeholder",
  "negative_uncached",
  "tool_calls_exceed_usage",
  "total_mismatch",
  "undecided",
];

/** Returns how reliable the counts are. `isFinal`: they are the service's final ones. */
export function toUsageState(tokens: Tokens | null, isFinal: boolean, flags: ReadonlySet<Flag>): UsageState {
  if (tokens === null) return "absent";
  return isFinal && !UNDECIDED.some((flag) => flags.has(flag)) ? "final" : "partial";
}

/** Adds the figures that later ones contradict to a usage object, as its member `earlier`. */
export function withEarlier(usage: JsonObject, earlier: Readonly<Record<string, number>> | null): JsonObject {
  return earlier === null ? usage : { ...usage, earlier: { ...earlier } };
}

/** Returns a new reading with only these facts, for the caller to fill in. */
export function createReading(outcome: Outcome, usage: UsageState): MeterReading {
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
    billed_usd: null,
    raw_usage: null,
    flags: [],
    output_estimate: null,
    smallest_prompt: null,
    largest_prompt: null,
    miss: null,
    miss_by: null,
    miss_tokens: null,
    output_file: null,
    spend: "never",
  };
}

/** Says of a response without usage what it was charged for in place of tokens. */
export function chargeByNumber(
  reading: MeterReading,
  name: typeof PICTURE | typeof VIDEO_SECOND,
  count: number,
): void {
  reading.usage = "none";
  reading.server_tools = { ...reading.server_tools, [name]: count };
}
