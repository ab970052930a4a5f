import type { Flag } from "../../../../core/usage/reading.ts";

/** What was unusual, and how the counts were resolved, in the words of docs/ledger.md#flags. */
const FLAGS: Readonly<Record<Flag, string>> = {
  reasoning_outside_output:
    "reasoning is not in the output, but in the total (xAI); it is added to the output",
  prompt_excludes_audio: "audio of the prompt is only in the total; it is added to the input",
  cache_outside_prompt:
    "cache reads and writes are not in the input, by the total or by the names; they are added",
  total_exceeds_sum: "the total has tokens that no part names (Gemini's thoughts); they are output",
  reasoning_exceeds_output: "more reasoning than output; reasoning is null",
  cached_exceeds_prompt: "more cached than input, and the total contradicts that; nothing counts as cached",
  cache_read_write_overlap:
    "reads and writes together exceed the input: the same tokens, which count as read",
  undecided: "nothing says which of the figures that contradict each other is right",
  thoughts_inside_candidates:
    "Google's thoughts are in the candidates already, by the total; they are not added",
  tool_use_inside_prompt:
    "what Google's tools fed back is not in the total beside the prompt; it is not added",
  details_short: "Google's tokens by modality are less than the count that they are of, which counts",
  details_exceed: "Google's tokens by modality are more than the count that they are of, which counts",
  total_mismatch: "the total is less than the sum of the parts, and the parts count",
  negative_uncached: "more cached than input, and no total: the cache is added, which is a guess",
  input_included_cache: "input_tokens of Messages included the cache, which was subtracted",
  usage_from_timings: "no usage; the counts are those of llama.cpp's timings",
  openai_names: "another API's names for the counts",
  bedrock_invocation_metrics: "the counts are Amazon Bedrock's",
  cache_write_split_stale:
    "the split by lifetime is less than the cache writes; the rest has an unknown lifetime",
  cache_write_split_exceeds_total:
    "the split by lifetime is more than the cache writes; all of them have an unknown lifetime",
  delta_zero_placeholder: "zeros came after known counts, and were ignored",
  counts_fell:
    "a count of a stream is lower than before; the later one counts, and raw_usage.earlier has the other",
  tool_calls_exceed_usage:
    "the output lists more calls of a tool than the usage reports; those of the list count",
  duplicate_message_start: "a gateway sent the start of a message twice",
  unknown_iteration_type: "a part of the usage is of an unknown type, in extra with billable null",
  extra_cut_short:
    "more sets in extra, or more output, than a record's counts can follow; the cost is a lower bound",
  raw_usage_too_large: "raw_usage is too large for a record",
  bad_json: "a part of the response that may have had usage is not valid JSON",
  decode_failed: "the response was compressed, and could not be decoded",
  warmup: "the response was only prepared (generate: false on a WebSocket)",
  summed: "the usage is that of all requests of a batch",
  web_page: "the response is a web page, not the API's; outcome is error, and nothing was spent",
};

/** Says what a flag means. One that this version does not know, such as of a newer one, stays a name. */
export function describeFlag(flag: string): string {
  return Object.hasOwn(FLAGS, flag) ? FLAGS[flag as Flag] : flag;
}
