import { parseJson } from "../json.ts";
import type { SummableRecord, SummableTokens } from "./record.ts";

/** What a text contains: no backslash, so that a quotation mark always ends it, and no control character (RFC 8259 section 7). */
const PLAIN = String.raw`[^"\\\u0000-\u001f]`;
const TEXT = `"(${PLAIN}*)"`;
const TEXTS = String.raw`\[(?:"${PLAIN}*"(?:,"${PLAIN}*")*)?\]`;
const TEXT_OR_NULL = `(?:null|${TEXT})`;
/** What is not needed is not captured. */
const ANY_TEXT = `"${PLAIN}*"`;
const ANY_TEXT_OR_NULL = `(?:null|${ANY_TEXT})`;
const ANY_COUNT = String.raw`(?:0|[1-9]\d{0,14})`;
const COUNT = String.raw`(0|[1-9]\d{0,14})`;
const COUNT_OR_NULL = `(?:null|${COUNT})`;
const MILLISECONDS = String.raw`(?:null|((?:0|[1-9]\d{0,14})(?:\.\d{1,6})?))`;

/** In the order in which the meters write them. */
const TOKENS = [
  "input_uncached",
  "cache_read",
  "cache_write",
  "cache_write_5m",
  "cache_write_1h",
  "cache_write_30m",
  "cache_write_12h",
  "cache_write_ttl_unknown",
  "output",
] as const satisfies (keyof SummableTokens)[];

const COUNTS = TOKENS.map((name) =>
  name.startsWith("cache_write_") ? `(?:"${name}":${COUNT},)?` : `"${name}":${COUNT},`,
).join("");
const TOKENS_OR_NULL = `(?:null|\\{${COUNTS}"input_total":${ANY_COUNT},(?:"reasoning":${COUNT_OR_NULL},)?"total":${ANY_COUNT}\\})`;

/** The members of a record and the patterns of their values, in the order in which they are written. Those with `?` may be left out. */
const MEMBERS: readonly (readonly [name: string, pattern: string])[] = [
  ["v", "[12]"],
  ["id", TEXT],
  ["ts", TEXT],
  ["tool", TEXT],
  ["tool_by", ANY_TEXT],
  ["session?", TEXT_OR_NULL],
  ["user_agent?", TEXT_OR_NULL],
  ["process?", `(?:null|\\{"pid":\\d{1,10},"executable":"${PLAIN}*","parents":${TEXTS}\\})`],
  ["project?", TEXT_OR_NULL],
  ["branch?", TEXT_OR_NULL],
  ["key", TEXT],
  ["upstream", TEXT],
  ["route", TEXT],
  ["method", TEXT],
  ["status?", COUNT_OR_NULL],
  ["model_requested?", TEXT_OR_NULL],
  ["alias?", TEXT_OR_NULL],
  ["stream?", "(?:null|(true|false))"],
  ["outcome", TEXT],
  ["stop?", ANY_TEXT_OR_NULL],
  ["error_type?", ANY_TEXT_OR_NULL],
  ["usage", TEXT],
  ["spend", TEXT],
  ["response_id?", TEXT_OR_NULL],
  ["model?", TEXT_OR_NULL],
  ["service_tier?", TEXT_OR_NULL],
  ["speed?", TEXT_OR_NULL],
  ["inference_geo?", TEXT_OR_NULL],
  ["tokens?", TOKENS_OR_NULL],
  ["extra?", String.raw`\[\]`],
  ["server_tools?", String.raw`(\{(?:"\w+":\d{1,15}(?:,"\w+":\d{1,15})*)?\})`],
  ["billed_usd?", String.raw`(?:null|"(\d{1,40}(?:\.\d{1,40})?)")`],
  ["raw_usage?", String.raw`(?:null|(\{[^\\\u0000-\u001f]*\}))`],
  ["flags?", `(${TEXTS})`],
  ["output_estimate?", COUNT_OR_NULL],
  ["attempt_of?", TEXT_OR_NULL],
  ["upstream_request_id?", ANY_TEXT_OR_NULL],
  ["traceparent?", ANY_TEXT_OR_NULL],
  ["cut_by?", ANY_TEXT_OR_NULL],
  ["ttft_ms?", MILLISECONDS],
  ["duration_ms", MILLISECONDS],
  ["bytes_in", COUNT],
  ["bytes_out", COUNT],
];

const LINE = new RegExp(
  MEMBERS.map(([name, pattern], at) => {
    const start = at === 0 ? String.raw`^\{` : ",";
    return name.endsWith("?")
      ? `(?:${start}"${name.slice(0, -1)}":${pattern})?`
      : `${start}"${name}":${pattern}`;
  }).join("") + String.raw`\}$`,
);

/** What of a service's own usage a price, or what a budget assumes, may depend on (price/parts.ts). */
const PRICED = /"iterations"|"earlier"|"(?:audio|image)_tokens"/;

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
class QuickRecord {
  readonly id;
  readonly ts;
  readonly tool;
  readonly session;
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
  readonly attempt_of;
  readonly ttft_ms;
  readonly duration_ms;
  readonly bytes_in;
  readonly bytes_out;

  constructor(found: readonly (string | undefined)[]) {
    this.id = found[1];
    this.ts = found[2];
    this.tool = found[3];
    this.session = found[4] ?? null;
    this.user_agent = found[5] ?? null;
    this.project = found[6] ?? null;
    this.branch = found[7] ?? null;
    this.key = found[8];
    this.upstream = found[9];
    this.route = found[10];
    this.method = found[11];
    this.status = toNumber(found[12]);
    this.model_requested = found[13] ?? null;
    this.alias = found[14] ?? null;
    this.stream = found[15] === undefined ? null : found[15] === "true";
    this.outcome = found[16];
    this.usage = found[17];
    this.spend = found[18];
    this.response_id = found[19] ?? null;
    this.model = found[20] ?? null;
    this.service_tier = found[21] ?? null;
    this.speed = found[22] ?? null;
    this.inference_geo = found[23] ?? null;
    this.tokens = found[24] === undefined ? null : toTokens(found, 24);
    this.extra = [];
    this.server_tools = toTools(found[34]);
    this.billed_usd = found[35] ?? null;
    this.raw_usage = toPricedUsage(found[36]);
    this.flags = found[37] === undefined || found[37] === "[]" ? [] : parseJson(found[37]);
    this.output_estimate = toNumber(found[38]);
    this.attempt_of = found[39] ?? null;
    this.ttft_ms = toNumber(found[40]);
    this.duration_ms = toNumber(found[41]);
    this.bytes_in = Number(found[42]);
    this.bytes_out = Number(found[43]);
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

/** Most responses list the tools that they did not call. */
function toTools(text: string | undefined): SummableRecord["server_tools"] {
  return text === undefined || !/:[1-9]/.test(text)
    ? NO_TOOLS
    : (parseJson(text) as SummableRecord["server_tools"]);
}

function toPricedUsage(text: string | undefined): unknown {
  return text !== undefined && PRICED.test(text) ? (parseJson(text) ?? null) : null;
}
