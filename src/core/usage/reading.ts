/**
 * How the exchange ended, as far as the model's answer tells.
 * `rejected` is an answer that tollkeeper gave itself; `cut` an answer that broke off.
 */
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
 * How sure the token counts are.
 * - `final`: the service's own last word
 * - `partial`: a lower bound; the answer broke off after the service had given first numbers
 * - `absent`: the service gave none; unknown, not zero
 * - `pending`: a background response that goes on; its usage comes with a later fetch of the same id
 * - `none`: the route has no usage (model list, token counting)
 */
export type UsageState = "final" | "partial" | "absent" | "pending" | "none";

/** Whether the record counts as spend: always, once per `response_id`, or never. */
export type Spend = "count" | "attach_by_response_id" | "never";

/** Something noticed while reading the usage (shared facts, usage.md section 8). */
export type Flag =
  | "bad_json"
  | "bedrock_invocation_metrics"
  | "cache_write_split_exceeds_total"
  | "cache_write_split_stale"
  | "decode_failed"
  | "delta_zero_placeholder"
  | "duplicate_message_start"
  | "extra_cut_short"
  | "input_included_cache"
  | "negative_uncached"
  | "openai_names"
  | "raw_usage_too_large"
  | "total_mismatch"
  | "unknown_iteration_type";

/**
 * Token counts in one shape for both dialects; all are integers >= 0.
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
  /** Written to cache for a lifetime that the service did not say. */
  cache_write_ttl_unknown: number;
  input_total: number;
  output: number;
  /** null where the service does not say; 0 only where it says 0. */
  reasoning: number | null;
  total: number;
}

/** A billed token set that the top-level usage leaves out, each with its own model. */
export interface ExtraTokens extends Omit<Tokens, "reasoning" | "total" | "input_total"> {
  /** `compaction`, `advisor_message`, `message` (a declined attempt), `image_gen`, ... */
  type: string;
  model: string | null;
  /** null: billed in some cases only. */
  billable: true | null;
}

/** What a meter learned from one answer. Field names are the ledger's. */
export interface Reading {
  outcome: Outcome;
  /** `stop_reason`, or the reason of an incomplete response; null for what is no single word. */
  stop: string | null;
  /** The service's code or type of the error; null for what is no single word. */
  error_type: string | null;
  usage: UsageState;
  spend: Spend;
  response_id: string | null;
  /** The model that served the answer. */
  model: string | null;
  service_tier: string | null;
  speed: string | null;
  inference_geo: string | null;
  tokens: Tokens | null;
  extra: ExtraTokens[];
  /** Calls of the service's own tools, e.g. `{ web_search: 2 }`. */
  server_tools: Record<string, number>;
  /** The service's own usage object (Messages: after merging the stream's), verbatim but for texts that are no words. */
  raw_usage: Record<string, unknown> | null;
  flags: Flag[];
}
