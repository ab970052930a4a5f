import type { CutBy, ToolEvidence } from "../record.ts";
import type { UsageState } from "../../usage/reading.ts";

/** What identified a tool, in words (docs/connecting.md). */
export const EVIDENCE: Readonly<Record<ToolEvidence, string>> = {
  path: "the address that it requests, as connect sets it",
  token: "its local token, which proves it",
  header: "a header in which it names itself",
  signature: "its headers, which no other tool sends",
  process: "its process",
  library: "its library: the program itself is not known",
  unknown: "nothing",
};

/** How sure the tokens are, in words (docs/ledger.md). */
export const CERTAINTY: Readonly<Record<UsageState, string>> = {
  final: "The tokens are the service's final counts.",
  partial: "The response was cut off: the tokens are a lower bound.",
  absent: "The service reported no usage: the tokens are unknown, and not 0.",
  pending: "The response is still running in the background; a later fetch brings its usage.",
  none: "Its cost does not depend on tokens.",
};

/** Who ended a response early, in words. */
export const CUTTERS: Readonly<Record<CutBy, string>> = {
  client: "the tool",
  upstream: "the upstream",
  proxy: "tollkeeper",
  crash: "a crash of the daemon",
};

/** What a line of a cost is for, in words (docs/ledger.md#tokens). */
export const COST_LINES = {
  input_uncached: "uncached",
  cache_read: "from cache",
  cache_write_5m: "to cache (5 min)",
  cache_write_30m: "to cache (30 min)",
  cache_write_1h: "to cache (1 hour)",
  cache_write_12h: "to cache (12 hours)",
  cache_write_ttl_unknown: "to cache",
  output: "output",
  web_search: "web searches",
  picture: "pictures",
  video_second: "seconds of video",
} as const;

/** Why requests are refused most often: by rules, and because the upstream cannot be reached (docs/refusals.md). */
export const USUAL_REFUSALS = {
  model_not_allowed: "the tool's group did not allow the model",
  storage_not_allowed: "a group or a budget limits the tool, so it may not use stored files or batches",
  paused: "a person had paused the tool, its group or everything",
  braked: "requests came too fast, or repeated, for a brake",
  limit_kept: "a brake kept what was left of a service's limit",
  budget_spent: "a budget was spent, or reserved for running requests",
  budget_unknown: "the request has a budget, and the ledger could not be counted",
  plan_throttled: "a brake or a budget stopped a request that a plan pays",
  upstream_unreachable: "no connection to it could be made",
  upstream_timeout: "it did not respond in time",
} as const;
