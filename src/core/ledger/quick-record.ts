import { parseJson } from "../json.ts";
import {
  CACHE_WRITE_LIFETIMES,
  RECORD_FIELD_LIST,
  type Kind,
  type SummableRecord,
  type SummableTokens,
  type SummedField,
  type UsageRecord,
} from "./record.ts";

/** The parentheses that capture; no pattern has an escaped one. */
const CAPTURES = /\((?!\?)/g;

/** What a text contains: no backslash, so that a quotation mark always ends it, and no control character (RFC 8259 section 7). */
const PLAIN = String.raw`[^"\\\u0000-\u001f]`;
const TEXT = `"(${PLAIN}*)"`;
const TEXTS = String.raw`\[(?:"${PLAIN}*"(?:,"${PLAIN}*")*)?\]`;
const COUNT = String.raw`(0|[1-9]\d{0,14})`;
const NAME = String.raw`"\w+"`;

/** In the order in which the meters write them. */
const TOKENS = [
  ...(["input_uncached", "cache_read", "cache_write"] as const),
  ...CACHE_WRITE_LIFETIMES,
  "output",
] satisfies (keyof SummableTokens)[];

const COUNTS = TOKENS.map((name) =>
  name.startsWith("cache_write_") ? `(?:"${name}":${COUNT},)?` : `"${name}":${COUNT},`,
).join("");

/** How nearly all values are written, and what of them is captured. */
const PATTERNS: Readonly<Record<Kind, string>> = {
  version: "[12]",
  text: TEXT,
  texts: `(${TEXTS})`,
  boolean: "(true|false)",
  number: COUNT,
  count: COUNT,
  milliseconds: String.raw`((?:0|[1-9]\d{0,14})(?:\.\d{1,6})?)`,
  dollars: String.raw`"(\d{1,40}(?:\.\d{1,40})?)"`,
  process: String.raw`\{"pid":\d{1,10},"executable":"${PLAIN}*","parents":${TEXTS}\}`,
  tokens: String.raw`\{${COUNTS}"input_total":(?:0|[1-9]\d{0,14}),(?:"reasoning":(?:null|${COUNT}),)?"total":(?:0|[1-9]\d{0,14})\}`,
  // Its counts are read by the parser.
  extra: String.raw`\[\]`,
  calls: String.raw`(\{(?:${NAME}:\d{1,15}(?:,${NAME}:\d{1,15})*)?\})`,
  object: String.raw`(\{[^\\\u0000-\u001f]*\})`,
};

/** A line, and by the names of the fields the number of the (first) capture. */
const { LINE, AT } = describeLine();

function describeLine(): { LINE: RegExp; AT: Readonly<Record<SummedField, number>> } {
  let [pattern, captures] = ["", 0];
  const at: Partial<Record<keyof UsageRecord, number>> = {};
  for (const { name, kind, isOptional, isSummed } of RECORD_FIELD_LIST) {
    const value = isSummed ? PATTERNS[kind] : PATTERNS[kind].replaceAll(CAPTURES, "(?:");
    const member = `${pattern === "" ? String.raw`^\{` : ","}"${name}":${isOptional ? `(?:null|${value})` : value}`;
    pattern += isOptional ? `(?:${member})?` : member;
    at[name] = captures + 1;
    captures += value.match(CAPTURES)?.length ?? 0;
  }
  return { LINE: new RegExp(`${pattern}${String.raw`\}$`}`), AT: at as Record<SummedField, number> };
}

/** What of a service's own usage a price, or what a budget assumes, may depend on (price/parts.ts). */
const PRICED = /"iterations"|"earlier"|"(?:audio|image)_tokens"/;

/** Flags of usage that has counts which were not taken. */
const REJECTED = /"undecided"|"cache_read_write_overlap"/;

const NO_TOOLS = Object.freeze({});

/**
 * Reads a line of the ledger for sums, about twice as fast as `parseRecord`. Leaves out tools that were not called, and `raw_usage`
 * unless a price may depend on it. Returns null for a line that is not written as nearly all are, which
 * says nothing about it.
 */
export function readQuickly(line: string): SummableRecord | null {
  const found = LINE.exec(line);
  return found === null ? null : (new QuickRecord(found) as unknown as SummableRecord);
}

/** A record from the captures of {@link LINE}, which are undefined for null. */
class QuickRecord implements Readonly<Record<SummedField, unknown>> {
  readonly id;
  readonly ts;
  readonly tool;
  readonly session;
  readonly agent;
  readonly agent_parent;
  readonly agent_kind;
  readonly turn;
  readonly user_agent;
  readonly project;
  readonly branch;
  readonly key;
  readonly upstream;
  readonly route;
  readonly method;
  readonly status;
  readonly model_requested;
  readonly alias;
  readonly stream;
  readonly outcome;
  readonly error_type;
  readonly usage;
  readonly spend;
  readonly response_id;
  readonly model;
  readonly service_tier;
  readonly speed;
  readonly inference_geo;
  readonly tokens;
  readonly extra: SummableRecord["extra"];
  readonly server_tools;
  readonly billed_usd;
  readonly raw_usage;
  readonly flags;
  readonly output_estimate;
  readonly reserved_input;
  readonly reserved_output;
  readonly reserved_class;
  readonly reserved_tier;
  readonly reserved_speed;
  readonly reserved_geo;
  readonly smallest_prompt;
  readonly largest_prompt;
  readonly miss;
  readonly miss_by;
  readonly miss_tokens;
  readonly attempt_of;
  readonly ttft_ms;
  readonly duration_ms;
  readonly bytes_in;
  readonly bytes_out;

  constructor(found: readonly (string | undefined)[]) {
    this.id = found[AT.id];
    this.ts = found[AT.ts];
    this.tool = found[AT.tool];
    this.session = found[AT.session] ?? null;
    this.agent = found[AT.agent] ?? null;
    this.agent_parent = found[AT.agent_parent] ?? null;
    this.agent_kind = found[AT.agent_kind] ?? null;
    this.turn = found[AT.turn] ?? null;
    this.user_agent = found[AT.user_agent] ?? null;
    this.project = found[AT.project] ?? null;
    this.branch = found[AT.branch] ?? null;
    this.key = found[AT.key];
    this.upstream = found[AT.upstream];
    this.route = found[AT.route];
    this.method = found[AT.method];
    this.status = toNumber(found[AT.status]);
    this.model_requested = found[AT.model_requested] ?? null;
    this.alias = found[AT.alias] ?? null;
    this.stream = found[AT.stream] === undefined ? null : found[AT.stream] === "true";
    this.outcome = found[AT.outcome];
    this.error_type = found[AT.error_type] ?? null;
    this.usage = found[AT.usage];
    this.spend = found[AT.spend];
    this.response_id = found[AT.response_id] ?? null;
    this.model = found[AT.model] ?? null;
    this.service_tier = found[AT.service_tier] ?? null;
    this.speed = found[AT.speed] ?? null;
    this.inference_geo = found[AT.inference_geo] ?? null;
    this.tokens = found[AT.tokens] === undefined ? null : toTokens(found, AT.tokens);
    this.extra = [];
    this.server_tools = toTools(found[AT.server_tools]);
    this.billed_usd = found[AT.billed_usd] ?? null;
    this.raw_usage = toPricedUsage(found[AT.raw_usage], found[AT.flags]);
    this.flags = toFlags(found[AT.flags]);
    this.output_estimate = toNumber(found[AT.output_estimate]);
    this.reserved_input = toNumber(found[AT.reserved_input]);
    this.reserved_output = toNumber(found[AT.reserved_output]);
    this.reserved_class = found[AT.reserved_class] ?? null;
    this.reserved_tier = found[AT.reserved_tier] ?? null;
    this.reserved_speed = found[AT.reserved_speed] ?? null;
    this.reserved_geo = found[AT.reserved_geo] ?? null;
    this.smallest_prompt = toNumber(found[AT.smallest_prompt]);
    this.largest_prompt = toNumber(found[AT.largest_prompt]);
    this.miss = found[AT.miss] ?? null;
    this.miss_by = found[AT.miss_by] ?? null;
    this.miss_tokens = toNumber(found[AT.miss_tokens]);
    this.attempt_of = found[AT.attempt_of] ?? null;
    this.ttft_ms = toNumber(found[AT.ttft_ms]);
    this.duration_ms = toNumber(found[AT.duration_ms]);
    this.bytes_in = Number(found[AT.bytes_in]);
    this.bytes_out = Number(found[AT.bytes_out]);
  }
}

/** `first` is the number of the first count in the captures. */
function toTokens(found: readonly (string | undefined)[], first: number): SummableTokens {
  return {
    input_uncached: Number(found[first]),
    cache_read: Number(found[first + 1]),
    cache_write: Number(found[first + 2]),
    cache_write_5m: Number(found[first + 3] ?? 0),
    cache_write_1h: Number(found[first + 4] ?? 0),
    cache_write_30m: Number(found[first + 5] ?? 0),
    cache_write_12h: Number(found[first + 6] ?? 0),
    cache_write_ttl_unknown: Number(found[first + 7] ?? 0),
    output: Number(found[first + 8]),
    reasoning: toNumber(found[first + 9]),
  };
}

function toNumber(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

function toFlags(text: string | undefined): SummableRecord["flags"] {
  return text === undefined || text === "[]" ? [] : (parseJson(text) as SummableRecord["flags"]);
}

/** Most responses list the tools that they did not call. */
function toTools(text: string | undefined): SummableRecord["server_tools"] {
  return text === undefined || !/:[1-9]/.test(text)
    ? NO_TOOLS
    : (parseJson(text) as SummableRecord["server_tools"]);
}

function toPricedUsage(text: string | undefined, flags: string | undefined): unknown {
  if (text === undefined) return null;
  const isPriced = PRICED.test(text) || (flags !== undefined && REJECTED.test(flags));
  return isPriced ? (parseJson(text) ?? null) : null;
}
