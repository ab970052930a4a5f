import type { UnrecordedRefusal } from "../../../core/refusals/refusal.ts";
import { SANDBOX_UPSTREAM } from "../../../core/config/names.ts";
import { tokensOfModel } from "../../../core/usage/batch/model-tokens.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { isRedirect } from "../../../core/upstream-health.ts";
import { WARMUP, WEB_PAGE } from "../../../core/usage/reading.ts";
import { isOwnUpstream, isPlanUpstream } from "../../../core/plans/names.ts";
import { costOf, type Cost } from "../../../core/price/cost.ts";
import { formatDollars } from "../../../core/price/money.ts";
import type { PriceBook } from "../../../core/price/price-book.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import type { RunningRequest } from "../../../core/ledger/running-request.ts";
import { formatShare } from "../../prices/format-cost.ts";
import { formatNumber } from "../../terminal/format.ts";
import { shorten } from "../../terminal/width.ts";
import type { FixedColumn } from "../../terminal/fixed-columns.ts";
import type { Tone } from "../../terminal/styles.ts";

/** A request as `tail` shows it: texts, empty where something is not known. */
export interface RequestRow {
  /** The local day and minute, such as `2026-11-24 09:14`. */
  day: string;
  time: string;
  tool: string;
  /** What the agent of a session is for; empty where nothing says it, and only of a request that runs. */
  agent: string;
  model: string;
  input: string;
  cached: string;
  output: string;
  cost: string;
  firstToken: string;
  duration: string;
  /** Bytes that the tool has got so far; only of a request that runs. */
  received: string;
  ending: string;
  tone: Tone;
}

const NOTHING: Omit<RequestRow, "day" | "time" | "tool" | "ending" | "tone"> = {
  agent: "",
  model: "",
  input: "",
  cached: "",
  output: "",
  cost: "",
  firstToken: "",
  duration: "",
  received: "",
};

const MOST_CHARACTERS = 200;

const left = (head: string, width: number, order: number, text: (row: RequestRow) => string) =>
  ({ head, width, align: "left", order, text }) as const;
const right = (head: string, width: number, order: number, text: (row: RequestRow) => string) =>
  ({ head, width, align: "right", order, text }) as const;

/** Stands in place of the time where requests are not all of today. */
const DAY_COLUMN: FixedColumn<RequestRow> = left("day", 16, 0, ({ day }) => day);

/** In the order shown. */
export const REQUEST_COLUMNS: readonly FixedColumn<RequestRow>[] = [
  left("time", 8, 2, ({ time }) => time),
  { ...left("tool", 14, 0, ({ tool }) => tool), most: 28 },
  { ...left("model", 22, 4, ({ model }) => model), most: 48 },
  right("tokens in", 9, 3, ({ input }) => input),
  right("cached", 6, 6, ({ cached }) => cached),
  right("out", 8, 3, ({ output }) => output),
  right("cost", 10, 1, ({ cost }) => cost),
  right("first", 7, 7, ({ firstToken }) => firstToken),
  right("took", 7, 5, ({ duration }) => duration),
  left("", 14, 0, ({ ending }) => ending),
];

/** The same where requests are of several days. */
export const DAYS_COLUMNS = [DAY_COLUMN, ...REQUEST_COLUMNS.slice(1)];

/** The column of {@link RequestRow.agent}. */
export const AGENT = "agent";

/** Of requests that run, in the order shown. */
export const RUNNING_COLUMNS: readonly FixedColumn<RequestRow>[] = [
  { ...left("tool", 14, 0, ({ tool }) => tool), most: 28 },
  left(AGENT, 10, 4, ({ agent }) => agent),
  { ...left("model", 20, 3, ({ model }) => model), most: 48 },
  left("since", 8, 7, ({ time }) => time),
  right("age", 7, 1, ({ duration }) => duration),
  right("first", 7, 6, ({ firstToken }) => firstToken),
  right("tokens in", 9, 5, ({ input }) => input),
  right("received", 9, 2, ({ received }) => received),
  left("", 9, 0, ({ ending }) => ending),
];

/** Describes a request that has ended and left a record. */
export function describeRecord(record: UsageRecord, prices: PriceBook): RequestRow {
  const { ts, tool, model, model_requested: requested, ttft_ms: ttft, duration_ms: ms } = record;
  const duration = formatSeconds(ms);
  const first = record.stream === true && ttft !== null ? formatSeconds(ttft) : "";
  return {
    day: dayOf(ts),
    time: timeOf(ts),
    tool: named(tool),
    agent: "",
    model: named(model ?? requested ?? ""),
    ...describeTokens({ ...record, tokens: tokensOfModel(record) }),
    cost: describeCost(record, prices),
    // Two times that are the same say nothing.
    firstToken: first === duration ? "" : first,
    duration,
    received: "",
    ending: describeEnding(record),
    tone: toneOf(record),
  };
}

/** Describes a request that runs. */
export function describeRunningRequest(request: RunningRequest): RequestRow {
  const { ts, tool, model, model_requested: requested, ttft_ms: ttft, duration_ms: duration } = request;
  return {
    ...NOTHING,
    day: dayOf(ts),
    time: timeOf(ts),
    tool: named(tool),
    agent: named(request.agent_kind ?? ""),
    model: named(model ?? requested ?? ""),
    ...describeTokens({ ...request, usage: "partial" }),
    firstToken: ttft === null ? "" : formatSeconds(ttft),
    duration: formatSeconds(duration),
    received: formatBytes(request.bytes_out),
    ending: ttft === null ? "waiting" : "streaming",
    tone: "running",
  };
}

/** Describes a request that was refused before it had an upstream: it has neither model nor usage. */
export function describeRefusal({ ts, tool, method, path, status, refused }: UnrecordedRefusal): RequestRow {
  return {
    ...NOTHING,
    day: dayOf(ts),
    time: timeOf(ts),
    tool: named(tool ?? "unknown"),
    ending: `${status} ${refusedAs(refused)}: ${method} ${named(path)}`,
    tone: "failure",
  };
}

/** Others choose these texts: in a pipe, nothing else limits them. */
function named(text: string): string {
  return shorten(toPrintable(text), MOST_CHARACTERS);
}

/** Returns the local day and minute. */
export function dayOf(ts: string): string {
  const day = new Date(ts);
  const date = [day.getFullYear(), day.getMonth() + 1, day.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
  return `${date} ${timeOf(ts).slice(0, 5)}`;
}

/** Local time of day. */
export function timeOf(ts: string): string {
  return new Date(ts).toTimeString().slice(0, 8);
}

/** The models' own word for what they decline is "refused", too. */
function refusedAs(code: string): string {
  return `${code}, refused by tollkeeper`;
}

function describeTokens({
  tokens,
  usage,
}: Pick<UsageRecord, "usage"> & { tokens: ReturnType<typeof tokensOfModel> }) {
  if (tokens === null) return { input: "", cached: "", output: "" };
  const { input_total: input, cache_read: cached, output } = tokens;
  const mark = usage === "partial" ? "≥" : "";
  return {
    input: input === null ? "" : formatNumber(input),
    cached: cached === null || input === null || cached === 0 ? "" : formatShare(cached, input),
    output: output === null ? "" : mark + formatNumber(output),
  };
}

function describeCost(record: UsageRecord, prices: PriceBook): string {
  if (record.upstream === SANDBOX_UPSTREAM) return record.tokens === null ? "" : "sandbox";
  return formatCostOf(costOf(record, prices), record);
}

/** In the words of `usage` and the dashboard. Nothing where there was nothing to pay. */
function formatCostOf(cost: Cost, { tokens, upstream }: Pick<UsageRecord, "tokens" | "upstream">): string {
  if (cost.kind === "unknown") return "unknown";
  if (cost.kind === "unpriced") return cost.atLeast > 0n ? `≥${formatDollars(cost.atLeast)}` : "unpriced";
  if (cost.amount === 0n && cost.from === "free") {
    if (tokens === null) return "";
    return isOwnUpstream(upstream) ? "own" : isPlanUpstream(upstream) ? "plan" : "free";
  }
  if (cost.amount === 0n) return formatDollars(0n);
  return `${cost.isLowerBound ? "≥" : ""}${formatDollars(cost.amount)}`;
}

/** Returns e.g. `74 KB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 999_500 ? `${Math.round(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Returns milliseconds as e.g. `14.2 s`. */
export function formatSeconds(ms: number): string {
  return ms < 99_950 ? `${(ms / 1000).toFixed(1)} s` : `${formatNumber(Math.round(ms / 1000))} s`;
}

function describeEnding(record: UsageRecord): string {
  const { outcome, usage, method, route, status } = record;
  const what = method === "POST" && GENERATING.has(route) ? "" : ` ${method} ${named(route)}`;
  const isUncounted = usage === "absent" && outcome !== "rejected" && !record.flags.includes(WEB_PAGE);
  const uncounted = isUncounted ? ", no usage reported" : "";
  return `${status ?? ""} ${describeOutcome(record)}${what}${uncounted}`.trim();
}

function describeOutcome({ outcome, status, error_type: type, cut_by: by, flags }: UsageRecord): string {
  if (outcome === "rejected") return refusedAs(named(type ?? "unknown"));
  if (isRedirect(status)) return "redirect, which is never followed: wrong base URL";
  if (flags.includes(WEB_PAGE)) return "web page, not the API: wrong base URL, or a proxy or login page";
  if (outcome === "cut") return `cut by ${describeCutter(by)}`;
  if (outcome === "completed" && flags.includes(WARMUP)) return "warm-up";
  return type === null ? outcome : `${outcome}: ${named(type)}`;
}

/** Routes that need not be named: nearly every request is for one of them. */
const GENERATING = new Set(["/messages", "/responses", "/chat/completions"]);

function describeCutter(by: UsageRecord["cut_by"]): string {
  if (by === "crash") return "a crash of the daemon";
  return by === "proxy" ? "tollkeeper" : `the ${by ?? "connection"}`;
}

function toneOf({ outcome }: UsageRecord): Tone {
  if (outcome === "error" || outcome === "failed" || outcome === "rejected") return "failure";
  return outcome === "cut" || outcome === "incomplete" || outcome === "refused" ? "warning" : "plain";
}
