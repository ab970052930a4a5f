import type { Api } from "../http/api.ts";

/** How an exchange ended. `rejected` is a refusal by tollkeeper, `cut` a truncated response. */
export type Outcome =
  | "completed"
  | "incomplete"
  | "refused"
  | "paused"
  | "error"
  | "failed"
  | "cancelled"
  | "queued"
  | "in_progress"
  | "cut"
  | "rejected";

/**
 * How reliable the token counts are.
 * - `final`: the service's final counts
 * - `partial`: not exact. A lower bound, because the response was truncated after the service had sent first counts; or the service
 *   contradicts itself, as the flags say
 * - `absent`: the service sent none; unknown, not zero
 * - `pending`: a background response that is still running; a later fetch of the same id brings its usage
 * - `none`: there are no tokens: on a route without usage (model list, token counting), and where pictures are paid by number
 */
export type UsageState = "final" | "partial" | "absent" | "pending" | "none";

/**
 * The API in whose format responses report usage; `media` for images and audio; `batch` for a batch, `batch_results` for the results of
 * Anthropic's, `batch_output` for the output file of OpenAI's, and `batch_responses` for the file of Google's; `object` where they report the id of what was created and no usage; `none`
 * when they report neither.
 */
export type Dialect =
  | Api
  | "media"
  | "batch"
  | "batch_results"
  | "batch_output"
  | "batch_responses"
  | "object"
  | "none";

/** Whether a record counts as spend: always, once per `response_id`, or never. */
export type Spend = "count" | "attach_by_response_id" | "never";

/** The flag, and the error type, of a response that is a web page where an API was asked. */
export const WEB_PAGE = "web_page";

/** The flag of a response that was only prepared (`generate: false` on a WebSocket). */
export const WARMUP = "warmup";

/** What is made without tokens and paid by number, by its name in `server_tools`. */
export const PICTURE = "picture";
export const VIDEO_SECOND = "video_second";

/** The flag of usage that is the sum of many requests. Their sizes are known only as far as {@link PromptSizes} says. */
export const SUMMED = "summed";

/** Something unusual that was noticed while reading the usage. */
export type Flag =
  | "bad_json"
  | "bedrock_invocation_metrics"
  | "cache_outside_prompt"
  | "cache_read_write_overlap"
  | "cache_write_split_exceeds_total"
  | "cache_write_split_stale"
  | "cached_exceeds_prompt"
  | "counts_fell"
  | "decode_failed"
  | "delta_zero_placeholder"
  | "details_exceed"
  | "details_short"
  | "duplicate_message_start"
  | "extra_cut_short"
  | "input_included_cache"
  | "negative_uncached"
  | "openai_names"
  | "prompt_excludes_audio"
  | "raw_usage_too_large"
  | "reasoning_exceeds_output"
  | "reasoning_outside_output"
  | typeof SUMMED
  | "thoughts_inside_candidates"
  | "tool_calls_exceed_usage"
  | "tool_use_inside_prompt"
  | "total_exceeds_sum"
  | "total_mismatch"
  | "undecided"
  | "unknown_iteration_type"
  | "usage_from_timings"
  | typeof WARMUP
  | typeof WEB_PAGE;

/**
 * Token counts in one form for all dialects. All are integers >= 0.
 * `input_total = input_uncached + cache_read + cache_write`; `output` includes `reasoning`;
 * `total = input_total + output`; the five `cache_write_*` add up to `cache_write`.
 */
export interface Tokens {
  input_uncached: number;
  cache_read: number;
  cache_write: number;
  cache_write_5m: number;
  cache_write_1h: number;
  cache_write_30m: number;
  cache_write_12h: number;
  /** Written to cache with a lifetime that the service did not report. */
  cache_write_ttl_unknown: number;
  input_total: number;
  output: number;
  /** null when the service does not say; 0 only when it says 0. */
  reasoning: number | null;
  total: number;
}

/** How large the prompts are that tokens are the sum of, each with its cached input, in tokens. */
export interface PromptSizes {
  /** No prompt is smaller. */
  smallest_prompt: number;
  /** No prompt is larger. */
  largest_prompt: number;
}

/** The type of a set of a batch, in `extra`, that is priced apart from the others. */
export const BATCH_SET = "batch";

/** What decides the price of a set of a batch besides. */
export interface BatchTerms extends PromptSizes {
  /** As in {@link MeterReading}. Left out, and the next as well, where both are those of the whole reading. */
  speed: string | null;
  inference_geo: string | null;
}

/** A set of tokens that the top-level usage leaves out. Only those of a batch have terms of their own. */
export interface ExtraTokens
  extends Omit<Tokens, "reasoning" | "total" | "input_total">, Partial<BatchTerms> {
  /** `compaction`, `advisor_message`, `message` (a declined attempt), `image_gen`, `batch`, ... */
  type: string;
  model: string | null;
  /** null when it is billed only in some cases. */
  billable: true | null;
}

/** Why a response read less from the provider's cache than it could have, as far as that is known. */
export interface CacheMiss {
  /** The service's word, or one of ours (misses/reasons.ts); null where nothing was missed, or nothing is known of it. */
  miss: string | null;
  /** `said`: by the service. `inferred`: from the requests of the same conversation. */
  miss_by: "said" | "inferred" | null;
  /** How many tokens of the input a hit would have read from the cache. */
  miss_tokens: number | null;
}

/** What a meter read in one response. Field names are the ledger's. */
export interface MeterReading extends CacheMiss {
  outcome: Outcome;
  /** `stop_reason`, or the reason of an incomplete response; null when it is not a single word. */
  stop: string | null;
  /** The service's error code or type; null when it is not a single word. */
  error_type: string | null;
  usage: UsageState;
  spend: Spend;
  response_id: string | null;
  /** The model that served the request. */
  model: string | null;
  service_tier: string | null;
  speed: string | null;
  inference_geo: string | null;
  tokens: Tokens | null;
  extra: ExtraTokens[];
  /** Calls of the service's own tools, e.g. `{ web_search: 2 }`; pictures and seconds of video, where they are paid by number. */
  server_tools: Record<string, number>;
  /** What the service says that it charged, in US dollars: a decimal number such as `0.0042`. null unless the response has ended. */
  billed_usd: string | null;
  /**
   * The service's own usage object (of a stream with several, all of them merged), verbatim except for removed sentences. Figures that a
   * later one contradicts are in its member `earlier`.
   */
  raw_usage: Record<string, unknown> | null;
  flags: Flag[];
  /**
   * How many tokens the text and the tool arguments are that a stream has brought, hidden reasoning left out: an estimate, which is no count
   * and in no sum. Budgets use it. null for a response with final usage, or none, and for one that is no stream.
   */
  output_estimate: number | null;
  /** How large the prompts of a batch are that `tokens` is the sum of; null for any other response, and where it is not known. */
  smallest_prompt: number | null;
  largest_prompt: number | null;
  /** The id of the file that has the responses of a batch that has ended, at OpenAI or Google; null for any other response. */
  output_file: string | null;
}
