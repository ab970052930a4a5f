import type { UnrecordedRefusal } from "../../../core/refusals/refusal.ts";
import { SANDBOX_UPSTREAM } from "../../../core/config/names.ts";
import { tokensOfModel } from "../../../core/usage/batch/model-tokens.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { describeOutcomeWord } from "../../../core/ledger/outcome-words.ts";
import { classify, isRefused } from "../../../core/ledger/spend.ts";
import { isRedirect } from "../../../core/upstream-health.ts";
import { WARMUP, WEB_PAGE } from "../../../core/usage/reading.ts";
import { isOwnUpstream, isPlanUpstream } from "../../../core/plans/names.ts";
import { costOf, type Cost } from "../../../core/price/cost.ts";
import { formatInColumn, parseMoney, type Money } from "../../../core/price/money.ts";
import type { PriceBook } from "../../../core/price/price-book.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import type { RunningRequest } from "../../../core/ledger/running-request.ts";
import { formatShare } from "../../prices/format-cost.ts";
import { formatNumber } from "../../terminal/format.ts";
import { shortDay } from "../../terminal/short-time.ts";
import { shorten } from "../../terminal/width.ts";
import type { FixedColumn } from "../../terminal/fixed-columns.ts";
import type { Tone } from "../../terminal/styles.ts";

/** A request as `tail` shows it: texts, empty where something is not known. */
export interface RequestRow {
  /** The local day and minute, such as `2026-11-24 09:14`. */
  day: string;
  time: string;
  /** The beginning of the record's id, which `explain` takes; empty without a record. */
  id: string;
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
  /** The same without what a filter by outcome says. */
  reason: string;
  /** True for a usual end of a usual request, which needs no words. */
  isUsual: boolean;
  tone: Tone;
}

const NOTHING: Omit<RequestRow, "day" | "time" | "tool" | "ending" | "reason" | "tone"> = {
  isUsual: false,
  id: "",
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

/** So much of a random id tells its record from others. */
const ID_CHARACTERS = 8;

const ID_COLUMN: FixedColumn<RequestRow> = left("id", ID_CHARACTERS, 2, ({ id }) => id);

/** In the order shown. */
const REQUEST_COLUMNS: readonly FixedColumn<RequestRow>[] = [
  left("time", 8, 2, ({ time }) => time),
  ID_COLUMN,
  { ...left("tool", 14, 0, ({ tool }) => tool), most: 28 },
  { ...left("model", 22, 4, ({ model }) => model), most: 48, long: "middle" },
  right("tokens in", 9, 3, ({ input }) => input),
  right("cached", 6, 6, ({ cached }) => cached),
  right("out", 8, 3, ({ output }) => output),
  right("cost", 10, 1, ({ cost }) => cost),
  right("first", 7, 7, ({ firstToken }) => firstToken),
  right("took", 7, 5, ({ duration }) => duration),
  left("", 14, 0, ({ ending }) => ending),
];

/** The same where requests are of several days. */
const DAYS_COLUMNS = [DAY_COLUMN, ...REQUEST_COLUMNS.slice(1)];

/** A narrower terminal has {@link NARROW_COLUMNS}. */
const NARROW = 100;

const NARROW_MODEL = {
  ...left("model", 16, 1, ({ model }: RequestRow) => model),
  most: 48,
  long: "middle",
} as const;

/** Where there is little room, the model is told before what goes without saying. What does not is below the row. */
const NARROW_COLUMNS: readonly FixedColumn<RequestRow>[] = [
  left("time", 8, 2, ({ time }) => time),
  ID_COLUMN,
  { ...left("tool", 11, 0, ({ tool }) => tool), most: 28 },
  NARROW_MODEL,
  right("tokens in", 9, 3, ({ input }) => input),
  right("cached", 6, 6, ({ cached }) => cached),
  right("out", 8, 4, ({ output }) => output),
  right("cost", 9, 0, ({ cost }) => cost),
  right("took", 7, 5, ({ duration }) => duration),
  { ...left("", 0, 0, ({ ending, isUsual }) => (isUsual ? "" : ending)), room: 0 },
];

const NARROW_DAY = left("day", 12, 0, ({ day }: RequestRow) => shortDay(day));

/** Of requests that failed or were refused, of which the reason is asked for: tokens and costs have none of these. */
const REASON_COLUMNS: readonly FixedColumn<RequestRow>[] = [
  left("time", 8, 2, ({ time }) => time),
  { ...ID_COLUMN, order: 1 },
  { ...left("tool", 12, 0, ({ tool }) => tool), most: 28 },
  { ...NARROW_MODEL, order: 3 },
  right("took", 7, 4, ({ duration }) => duration),
  { ...left("reason", 20, 0, ({ reason }) => reason), room: 26 },
];

/** Which columns a list of requests has. */
interface ListedRequests {
  /** True where they are not all of today. */
  hasDays: boolean;
  /** True where all of them failed or were refused. */
  areReasonsAsked: boolean;
}

/** Returns the columns of a list in lines of `width` characters. What reads a pipe has whole ids in JSON. */
export function columnsOf(listed: ListedRequests, width: number): readonly FixedColumn<RequestRow>[] {
  const columns = terminalColumns(listed, width);
  return width === Infinity ? columns.filter(({ head }) => head !== ID_COLUMN.head) : columns;
}

function terminalColumns(
  { hasDays, areReasonsAsked }: ListedRequests,
  width: number,
): readonly FixedColumn<RequestRow>[] {
  if (areReasonsAsked) return hasDays ? [NARROW_DAY, ...REASON_COLUMNS.slice(1)] : REASON_COLUMNS;
  if (width >= NARROW) return hasDays ? DAYS_COLUMNS : REQUEST_COLUMNS;
  return hasDays ? [NARROW_DAY, ...NARROW_COLUMNS.slice(1)] : NARROW_COLUMNS;
}

/** The column of {@link RequestRow.agent}. */
export const AGENT = "agent";

/** Of requests that run, in the order shown. */
export const RUNNING_COLUMNS: readonly FixedColumn<RequestRow>[] = [
  { ...left("tool", 14, 0, ({ tool }) => tool), most: 28 },
  left(AGENT, 10, 4, ({ agent }) => agent),
  { ...left("model", 20, 1, ({ model }) => model), most: 48, long: "middle" },
  left("since", 8, 7, ({ time }) => time),
  right("age", 7, 0, ({ duration }) => duration),
  right("first", 7, 6, ({ firstToken }) => firstToken),
  right("tokens in", 9, 5, ({ input }) => input),
  right("received", 9, 3, ({ received }) => received),
  { ...left("", 9, 0, ({ ending }) => ending), room: 9 },
];

/** Describes a request that has ended and left a record. */
export function describeRecord(record: UsageRecord, prices: PriceBook): RequestRow {
  const { ts, tool, model, model_requested: requested, ttft_ms: ttft, duration_ms: ms } = record;
  // A refusal of ours takes no time.
  const duration = isRefused(record) && ms < 50 ? "" : formatSeconds(ms);
  const first = record.stream === true && ttft !== null ? formatSeconds(ttft) : "";
  return {
    day: dayOf(ts),
    time: timeOf(ts),
    id: named(record.id).slice(0, ID_CHARACTERS),
    tool: named(tool),
    agent: "",
    model: named(model ?? requested ?? ""),
    ...describeTokens({ ...record, tokens: tokensOfModel(record) }),
    cost: describeCost(record, prices),
    // Two times that are the same say nothing.
    firstToken: first === duration ? "" : first,
    duration,
    received: "",
    ...describeEnding(record),
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
    duration: formatAgeOfRun(duration),
    received: formatBytes(request.bytes_out),
    ending: ttft === null ? "waiting" : "streaming",
    reason: "",
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
    reason: `${status} ${refused}: ${method} ${named(path)}`,
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
  if (cost.kind === "unpriced") return cost.atLeast > 0n ? atLeast(cost.atLeast) : "unpriced";
  if (cost.amount === 0n && cost.from === "free") {
    if (tokens === null) return "";
    return isOwnUpstream(upstream) ? "own" : isPlanUpstream(upstream) ? "plan" : "free";
  }
  return cost.isLowerBound && cost.amount > 0n ? atLeast(cost.amount) : formatInRows(cost.amount);
}

function atLeast(amount: Money): string {
  const dollars = formatInRows(amount);
  return `≥${dollars.startsWith("<") ? formatInRows(0n) : dollars}`;
}

/** All rows have as many places, so that points stand beneath each other and no figure is cut. `explain` has all digits. */
function formatInRows(amount: Money): string {
  return formatInColumn(amount, amount < LARGE ? LESS_THAN_A_DOLLAR : amount);
}

/** The parts of such a sum have four places. */
const LESS_THAN_A_DOLLAR: Money = 1n;
/** A hundred dollars: with four places, it would be too long for a narrow terminal. */
const LARGE = parseMoney("100") ?? 0n;

/** Returns e.g. `74 KB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 999_500 ? `${Math.round(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Returns milliseconds as e.g. `14.2 s`. */
export function formatSeconds(ms: number): string {
  return ms < 99_950 ? `${(ms / 1000).toFixed(1)} s` : `${formatNumber(Math.round(ms / 1000))} s`;
}

/** Returns how long a request runs: `14.2 s`, `45 min`, `3.2 h`. */
function formatAgeOfRun(ms: number): string {
  if (ms < 99_950) return formatSeconds(ms);
  const minutes = ms / 60_000;
  return minutes < 90 ? `${Math.round(minutes)} min` : `${(minutes / 60).toFixed(1)} h`;
}

function describeEnding(record: UsageRecord): Pick<RequestRow, "ending" | "reason" | "isUsual"> {
  const { outcome, usage, method, route, status, error_type: type } = record;
  const what = method === "POST" && GENERATING.has(route) ? "" : ` ${method} ${named(route)}`;
  // A request that failed with a plain error has used nothing.
  const isUncounted = usage === "absent" && classify(record) !== "failed" && outcome !== "rejected";
  const uncounted = isUncounted ? ", no usage reported" : "";
  const how = describeOutcome(record);
  const ending = `${status ?? ""} ${how}${what}${uncounted}`.trim();
  const isNamed = type !== null && (outcome === "rejected" || how.endsWith(`: ${named(type)}`));
  return {
    ending,
    reason: `${status ?? ""} ${isNamed ? named(type) : how}${what}`.trim(),
    isUsual: ending === "200 completed",
  };
}

function describeOutcome({ outcome, status, error_type: type, cut_by: by, flags }: UsageRecord): string {
  if (outcome === "rejected") return refusedAs(named(type ?? "unknown"));
  if (isRedirect(status)) return "redirect, which is never followed: wrong base URL";
  if (flags.includes(WEB_PAGE)) return "web page, not the API: wrong base URL, or a proxy or login page";
  if (outcome === "cut") return `cut short by ${describeCutter(by)}`;
  if (outcome === "completed" && flags.includes(WARMUP)) return "warm-up";
  const word = describeOutcomeWord(outcome);
  return type === null ? word : `${word}: ${named(type)}`;
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
