import type { ExtraTokens, Tokens } from "../../usage/reading.ts";
import { sizeOf } from "../../usage/tokens.ts";
import { AGENT_KINDS } from "../../identity/agent-facts.ts";
import { dayOf } from "../day.ts";
import { CACHE_WRITE_LIFETIMES, type UsageRecord } from "../record.ts";

/** So many characters of a value are shown. */
const MAX_SHOWN = 80;

/** Returns what is wrong with a record, in a few words; null when it does not break the rule. */
type Rule = (record: UsageRecord, day: string) => string | null;

/** ISO 8601 in UTC with milliseconds, as `Date.toISOString` writes it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const OUTCOMES =
  "completed incomplete refused paused error failed cancelled queued in_progress cut rejected".split(" ");
const KNOWN: Readonly<Record<"outcome" | "usage" | "spend", readonly string[]>> = {
  outcome: OUTCOMES,
  usage: ["final", "partial", "absent", "pending", "none"],
  spend: ["count", "attach_by_response_id", "never"],
};

const MISS_SOURCES: readonly string[] = ["said", "inferred"];

/** What docs/ledger.md says of every record. */
const RULES: readonly Rule[] = [
  isOfItsDay,
  ...(["outcome", "usage", "spend"] as const).map(knownWord),
  ({ tokens }) => (tokens === null ? null : findTokenFault(tokens)),
  ({ extra }) =>
    extra.map((set) => findWriteFault(set, `extra of ${show(set.type)}: `)).find(isFault) ?? null,
  promptsFitTokens,
  missHasItsSource,
  tokensFitUsage,
  cutHasAnEnd,
  timesFit,
  ...(["bytes_in", "bytes_out"] as const).map(count),
  ({ status }) =>
    status === null || (Number.isInteger(status) && status >= 100 && status <= 599)
      ? null
      : `status ${show(status)} is not one of HTTP`,
  ({ agent_kind: kind }) =>
    kind === null || AGENT_KINDS.includes(kind)
      ? null
      : `agent_kind ${show(kind)} is not one of the known ones`,
  ({ agent, agent_parent: parent }) =>
    agent !== null && agent === parent ? "agent_parent is its own agent" : null,
  ({ id, attempt_of: first }) => (first === id ? "attempt_of is its own id" : null),
];

/** Returns what a record in the file of `day` contradicts, in a few words; null when it contradicts nothing. */
export function findContradiction(record: UsageRecord, day: string): string | null {
  for (const rule of RULES) {
    const fault = rule(record, day);
    if (fault !== null) return fault;
  }
  return null;
}

function isOfItsDay({ ts }: UsageRecord, day: string): string | null {
  if (!TIME.test(ts) || Number.isNaN(Date.parse(ts)) || new Date(ts).toISOString() !== ts)
    return `ts ${show(ts)} is not a time`;
  return dayOf(ts) === day ? null : `ts is of ${dayOf(ts)}, so reports on that day alone miss it`;
}

function knownWord(field: keyof typeof KNOWN): Rule {
  return (record) =>
    KNOWN[field].includes(record[field])
      ? null
      : `${field} ${show(record[field])} is not one of the known ones`;
}

function findTokenFault(tokens: Tokens): string | null {
  const { input_uncached: uncached, cache_read: read, cache_write: write, output, reasoning } = tokens;
  return (
    findWriteFault(tokens, "") ??
    notSum("input_total", tokens.input_total, "input_uncached + cache_read + cache_write", [
      uncached,
      read,
      write,
    ]) ??
    notSum("total", tokens.total, "input_total + output", [tokens.input_total, output]) ??
    (reasoning !== null && reasoning > output
      ? `reasoning is ${show(reasoning)}, more than the output of ${show(output)}`
      : null)
  );
}

function findWriteFault(set: Tokens | ExtraTokens, where: string): string | null {
  const wrong = CACHE_WRITE_LIFETIMES.find((name) => !isCount(set[name]));
  if (wrong !== undefined) return `${where}${wrong} is not a count`;
  const parts = CACHE_WRITE_LIFETIMES.map((name) => set[name]);
  return notSum(`${where}cache_write`, set.cache_write, "the five cache_write_*", parts);
}

/** Their prompts are in the sums of a batch, so none is larger than all of them. */
function promptsFitTokens({ tokens, extra, ...record }: UsageRecord): string | null {
  const sizes = { smallest: record.smallest_prompt, largest: record.largest_prompt };
  const own = findSizeFault(sizes, tokens === null ? null : sizeOf(tokens), "");
  const faults = extra.map((set) =>
    findSizeFault(
      { smallest: set.smallest_prompt ?? null, largest: set.largest_prompt ?? null },
      sizeOf(set),
      `extra of ${show(set.type)}: `,
    ),
  );
  return own ?? faults.find(isFault) ?? null;
}

function findSizeFault(
  { smallest, largest }: { smallest: number | null; largest: number | null },
  input: number | null,
  where: string,
): string | null {
  if (smallest === null && largest === null) return null;
  if (smallest === null || largest === null || input === null)
    return `${where}smallest_prompt is ${show(smallest)}, largest_prompt ${show(largest)}, and the input ${show(input)}`;
  if (smallest > largest)
    return `${where}smallest_prompt is ${show(smallest)}, more than the largest_prompt of ${show(largest)}`;
  return largest > input
    ? `${where}largest_prompt is ${show(largest)}, more than the input of ${show(input)}`
    : null;
}

/** A reason has its source, and tokens have a reason. */
function missHasItsSource({ miss, miss_by: by, miss_tokens: tokens }: UsageRecord): string | null {
  if (by !== null && !MISS_SOURCES.includes(by)) return `miss_by ${show(by)} is not one of the known ones`;
  return (miss === null) === (by === null) && (miss !== null || tokens === null)
    ? null
    : `miss is ${show(miss)}, miss_by ${show(by)}, and miss_tokens ${show(tokens)}`;
}

function notSum(name: string, value: number, what: string, parts: readonly number[]): string | null {
  const sum = parts.reduce((all, part) => all + part, 0);
  return value === sum ? null : `${name} is ${show(value)}, but ${what} is ${show(sum)}`;
}

/** `final` and `partial` are counts, and the others have none. What is pending counts once a fetch has brought its usage. */
function tokensFitUsage({ usage, tokens, spend, billed_usd: billed, outcome }: UsageRecord): string | null {
  const hasCounts = usage === "final" || usage === "partial";
  if (hasCounts !== (tokens !== null))
    return `usage is ${usage}, but there ${hasCounts ? "are no" : "are"} tokens`;
  if (outcome === "rejected" && tokens !== null)
    return "outcome is rejected, so nothing was sent, but there are tokens";
  if (usage === "pending" && spend !== "attach_by_response_id")
    return `usage is pending, but spend is ${spend}`;
  return billed !== null && !hasCounts ? `usage is ${usage}, but there is a billed_usd` : null;
}

function cutHasAnEnd({ outcome, cut_by: by }: UsageRecord): string | null {
  if ((outcome === "cut") === (by === null))
    return by === null
      ? "outcome is cut, but cut_by is null"
      : `outcome is ${outcome}, but cut_by is ${show(by)}`;
  return by === null || ["client", "upstream", "proxy", "crash"].includes(by)
    ? null
    : `cut_by ${show(by)} is not one of the known ones`;
}

function timesFit({ ttft_ms: first, duration_ms: whole }: UsageRecord): string | null {
  if (!isDuration(whole)) return `duration_ms is ${show(whole)}`;
  if (first === null) return null;
  if (!isDuration(first)) return `ttft_ms is ${show(first)}`;
  return first > whole
    ? `ttft_ms is ${inMicroseconds(first)}, more than the duration_ms of ${inMicroseconds(whole)}`
    : null;
}

function count(field: "bytes_in" | "bytes_out"): Rule {
  return (record) => (isCount(record[field]) ? null : `${field} is ${show(record[field])}`);
}

/** Later digits of a time say nothing. */
function inMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function isDuration(value: unknown): boolean {
  return typeof value === "number" && value >= 0;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isFault(fault: string | null): fault is string {
  return fault !== null;
}

/** A value is whatever the line has, whatever the type says, and of any length. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "missing";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
