import type { AgentFacts } from "../identity/agent-facts.ts";
import type { MeterReading, Tokens } from "../usage/reading.ts";

/** What identified the tool, strongest first (docs/wire.md section 2). */
export type ToolEvidence = "path" | "token" | "header" | "signature" | "process" | "library" | "unknown";

/** Who or what ended an exchange early. `crash`: the daemon was killed, and the record is its last note. */
export type CutBy = "client" | "upstream" | "proxy" | "crash";

/**
 * Version of the record format. Readers skip records of later versions. Version 1 had its null and empty members in the line, as
 * readers still accept; version 2 leaves them out.
 */
export const RECORD_VERSION = 2;

/** A process. Never includes its arguments, which may hold prompts or credentials. */
export interface ProcessRecord {
  pid: number;
  /** Absolute path. */
  executable: string;
  /** Base names of its ancestors' executables, nearest first, up to the terminal or editor. */
  parents: readonly string[];
}

/** The dearest class of tokens that the input of a request may be. */
export type ReservedClass = "input_uncached" | "cache_write_5m" | "cache_write_1h" | "cache_write_12h";

/**
 * One line of the ledger: one request, however it ended. Holds no prompt or response text, and no header values but the
 * ones named here. Unknown values are null, never 0.
 */
export interface UsageRecord extends MeterReading, AgentFacts {
  v: typeof RECORD_VERSION;
  /** Random and unique. */
  id: string;
  /** When the request arrived; ISO 8601, UTC, milliseconds. */
  ts: string;
  tool: string;
  tool_by: ToolEvidence;
  /** The tool's own session id, when it sends one; for a child session, that of its parent. */
  session: string | null;
  user_agent: string | null;
  /** The client's process; null when it was not known by the time the record was written. */
  process: ProcessRecord | null;
  /** Absolute path of the directory that the process works in; null as above, and unless the configuration enables it. */
  project: string | null;
  /** Branch of the project's repository when the request arrived, or `detached:` and a commit; null as above. */
  branch: string | null;
  /** Name of the key, never its value. */
  key: string;
  /** Name of the upstream in the configuration. */
  upstream: string;
  /** The route's path relative to `/v1`, e.g. `/messages`. */
  route: string;
  method: string;
  /** Status of the response, the upstream's or our own; null when there was none. */
  status: number | null;
  model_requested: string | null;
  /** The model that the upstream was asked for in place of `model_requested`; null without an alias. */
  alias: string | null;
  /** True when an event stream was requested or sent; null when neither is known. */
  stream: boolean | null;
  upstream_request_id: string | null;
  /** The `id` of the first attempt's record, in that of another attempt at the same request; else null. */
  attempt_of: string | null;
  /**
   * What budgets had reserved, in tokens, of a request whose usage is not final: they count it in place of the usage, until better is
   * known. In no sum. null without a budget for it, and where better is known.
   */
  reserved_input: number | null;
  reserved_output: number | null;
  /** The class of `reserved_input` whose price was reserved; null as above. */
  reserved_class: ReservedClass | null;
  /** What such a request asked for that may be dearer than usual, in its own words: the tier, the speed, the region. */
  reserved_tier: string | null;
  reserved_speed: string | null;
  reserved_geo: string | null;
  /** The client's `traceparent` (W3C Trace Context); null unless the configuration exports spans. */
  traceparent: string | null;
  cut_by: CutBy | null;
  /** From request received to the first content event, or to the first byte of a response that is not a stream. */
  ttft_ms: number | null;
  /** From request received to the end of the response. */
  duration_ms: number;
  /** Body bytes received from the client. */
  bytes_in: number;
  /** Body bytes sent to the client, as they were on the wire. */
  bytes_out: number;
}

/** What a field holds. A `number` may be impossible, which `ledger verify` reports; a `count` is checked wherever it is read. */
export type Kind =
  | "version"
  | "text"
  | "texts"
  | "boolean"
  | "number"
  | "count"
  | "milliseconds"
  | "dollars"
  | "process"
  | "tokens"
  | "extra"
  | "calls"
  | "object";

/**
 * - `optional`: a line leaves it out where it is null or empty
 * - `summed`: sums, filters and prices need it; what they do not need is passed over when a line is read for them
 */
type Trait = "optional" | "summed";

function field<K extends Kind, const T extends readonly Trait[]>(kind: K, ...traits: T) {
  return { kind, traits };
}

/**
 * The fields of a record, in the order of a line. Lines are checked by it (parse-record.ts), read for sums by it (quick-record.ts), and
 * exported by it (csv-columns.ts). `formatRecord` and what `readQuickly` returns list the fields themselves, because any loop costs three times
 * as much. The compiler notices a field that one of them leaves out.
 */
const RECORD_FIELDS = {
  v: field("version"),
  id: field("text", "summed"),
  ts: field("text", "summed"),
  tool: field("text", "summed"),
  tool_by: field("text"),
  session: field("text", "optional", "summed"),
  agent: field("text", "optional", "summed"),
  agent_parent: field("text", "optional", "summed"),
  agent_kind: field("text", "optional", "summed"),
  turn: field("text", "optional", "summed"),
  user_agent: field("text", "optional", "summed"),
  process: field("process", "optional"),
  project: field("text", "optional", "summed"),
  branch: field("text", "optional", "summed"),
  key: field("text", "summed"),
  upstream: field("text", "summed"),
  route: field("text", "summed"),
  method: field("text", "summed"),
  status: field("number", "optional", "summed"),
  model_requested: field("text", "optional", "summed"),
  alias: field("text", "optional", "summed"),
  stream: field("boolean", "optional", "summed"),
  outcome: field("text", "summed"),
  stop: field("text", "optional"),
  error_type: field("text", "optional", "summed"),
  usage: field("text", "summed"),
  spend: field("text", "summed"),
  response_id: field("text", "optional", "summed"),
  model: field("text", "optional", "summed"),
  service_tier: field("text", "optional", "summed"),
  speed: field("text", "optional", "summed"),
  inference_geo: field("text", "optional", "summed"),
  tokens: field("tokens", "optional", "summed"),
  extra: field("extra", "optional", "summed"),
  server_tools: field("calls", "optional", "summed"),
  billed_usd: field("dollars", "optional", "summed"),
  raw_usage: field("object", "optional", "summed"),
  flags: field("texts", "optional", "summed"),
  output_estimate: field("count", "optional", "summed"),
  reserved_input: field("count", "optional", "summed"),
  reserved_output: field("count", "optional", "summed"),
  reserved_class: field("text", "optional", "summed"),
  reserved_tier: field("text", "optional", "summed"),
  reserved_speed: field("text", "optional", "summed"),
  reserved_geo: field("text", "optional", "summed"),
  smallest_prompt: field("count", "optional", "summed"),
  largest_prompt: field("count", "optional", "summed"),
  miss: field("text", "optional", "summed"),
  miss_by: field("text", "optional", "summed"),
  miss_tokens: field("count", "optional", "summed"),
  output_file: field("text", "optional"),
  attempt_of: field("text", "optional", "summed"),
  upstream_request_id: field("text", "optional"),
  traceparent: field("text", "optional"),
  cut_by: field("text", "optional"),
  ttft_ms: field("milliseconds", "optional", "summed"),
  duration_ms: field("milliseconds", "summed"),
  bytes_in: field("number", "summed"),
  bytes_out: field("number", "summed"),
} as const satisfies Record<keyof UsageRecord, { kind: Kind; traits: readonly Trait[] }>;

type Fields = typeof RECORD_FIELDS;

/** The fields that sums, filters and prices need. */
export type SummedField = {
  [Name in keyof Fields]: "summed" extends Fields[Name]["traits"][number] ? Name : never;
}[keyof Fields];

/** A row of {@link RECORD_FIELDS}. */
interface RecordField {
  name: keyof UsageRecord;
  kind: Kind;
  isOptional: boolean;
  isSummed: boolean;
}

/** {@link RECORD_FIELDS} as a list. */
export const RECORD_FIELD_LIST: readonly RecordField[] = Object.entries(RECORD_FIELDS).map(
  ([name, { kind, traits }]) => {
    const all: readonly Trait[] = traits;
    return {
      name: name as keyof UsageRecord,
      kind,
      isOptional: all.includes("optional"),
      isSummed: all.includes("summed"),
    };
  },
);

/** What sums need of a record. */
export type SummableRecord = Omit<Pick<UsageRecord, SummedField>, "tokens"> & {
  tokens: SummableTokens | null;
};

/** The counts of which the others are sums. */
export type SummableTokens = Omit<Tokens, "input_total" | "total">;

/** Writes to the cache by their lifetimes, which add up to `cache_write`. A line leaves out those that are 0. */
export const CACHE_WRITE_LIFETIMES = [
  "cache_write_5m",
  "cache_write_1h",
  "cache_write_30m",
  "cache_write_12h",
  "cache_write_ttl_unknown",
] as const satisfies (keyof Tokens)[];
