import type { CacheShare } from "../../../../core/ledger/explain/cache-before.ts";
import { inputOf } from "../../../../core/ledger/explain/cache-before.ts";
import type { UsageRecord } from "../../../../core/ledger/record.ts";
import { describeMiss, habitFor } from "../../../../core/misses/reasons.ts";
import { formatDollars } from "../../../../core/price/money.ts";
import { toPrintable } from "../../../../core/text/printable.ts";
import { PICTURE, VIDEO_SECOND } from "../../../../core/usage/reading.ts";
import { CERTAINTY } from "../../../../core/ledger/explain/record-words.ts";
import { formatShare } from "../../../prices/format-cost.ts";
import type { Fact } from "../../../terminal/facts.ts";
import { formatNumber, pluralize } from "../../../terminal/format.ts";
import type { ExaminedRequest } from "./examine.ts";
import { describeFlag } from "./flag-words.ts";

/** Says what a request used, and how certain that is. */
export function usageFacts(request: ExaminedRequest): Fact[] {
  const { record, source, before, kind, cost, countedFor } = request;
  const { tokens, usage } = source;
  const isByNumber = usage === "none";
  if (kind === "failed") return [["used", "nothing: it counts as failed, without a cost"]];
  if (cost === null) return [["used", describeOther(countedFor?.id ?? null)]];
  const facts: (Fact | false)[] = [
    ...(tokens === null ? [] : countFacts(tokens)),
    ...source.extra.map((set): Fact => ["", describeExtra(set)]),
    ...Object.entries(source.server_tools).map(([name, count], at): Fact => [
      isByNumber && at === 0 ? "used" : "",
      describeCalls(name, count),
    ]),
    [tokens === null && !isByNumber ? "used" : "certainty", describeCertainty(request)],
    ...estimateFacts(record, source.usage),
    source.id !== record.id && ["", `a later fetch brought the usage: tollkeeper explain ${source.id}`],
    ...source.flags.map((flag, at): Fact => [at === 0 ? "unusual" : "", describeFlag(flag)]),
    tokens !== null && before !== null && ["cache", describeCache(tokens, before)],
    ...missFacts(request),
  ];
  return facts.filter((fact) => fact !== false);
}

function describeCalls(name: string, count: number): string {
  if (name === PICTURE) return pluralize(count, "picture");
  if (name === VIDEO_SECOND) return `${pluralize(count, "second")} of video`;
  return `${name}: ${pluralize(count, "call")}`;
}

/** A background response counts once. */
function describeOther(id: string | null): string {
  const what = "the response counts for the request that created it";
  return id === null
    ? `${what}, which is not in the ledger of the week before`
    : `${what}: tollkeeper explain ${id}`;
}

type Counts = NonNullable<ExaminedRequest["source"]["tokens"]>;

export function countFacts(tokens: Counts): Fact[] {
  const { input_uncached: uncached, cache_read: read, cache_write: write, output, reasoning } = tokens;
  const input = inputOf(tokens);
  const parts = [
    `${formatNumber(uncached)} uncached`,
    `${formatNumber(read)} from cache${read === 0 ? "" : ` (${formatShare(read, input)})`}`,
    ...(write === 0 ? [] : [`${formatNumber(write)} to cache`]),
  ];
  const isUncached = read + write === 0;
  const thought =
    reasoning === null || reasoning === 0 ? "" : `, ${formatNumber(reasoning)} of them reasoning`;
  return [
    [
      "used",
      `${pluralize(input, "token")} in${isUncached ? ", none of them from a cache" : `: ${parts.join(", ")}`}`,
    ],
    ["", `${pluralize(output, "token")} out${thought}`],
  ];
}

function describeExtra(set: ExaminedRequest["source"]["extra"][number]): string {
  const bill = set.billable === true ? "" : ", billed only in some cases";
  const by = set.model === null ? "" : ` by ${set.model}`;
  return `${set.type}${by}: ${pluralize(inputOf(set) + set.output, "token")} more${bill}`;
}

function describeCertainty({ record, source }: ExaminedRequest): string {
  const isCut = record.outcome === "cut" || source.usage !== "partial";
  return isCut ? CERTAINTY[source.usage] : "The service contradicts itself: the tokens are a lower bound.";
}

/** Figures that stand in for tokens which are not known. */
function estimateFacts(
  { output_estimate: text, reserved_input: input, reserved_output: output }: UsageRecord,
  usage: UsageRecord["usage"],
): Fact[] {
  if (usage === "final" || usage === "none") return [];
  const facts: (Fact | false)[] = [
    text !== null && ["", `its text is about ${pluralize(text, "token")}, by an estimate that is in no sum`],
    (input !== null || output !== null) && [
      "",
      `budgets count what they had reserved: ${formatNumber(input ?? 0)} in, ${formatNumber(output ?? 0)} out`,
    ],
  ];
  return facts.filter((fact) => fact !== false);
}

/** A fact. {@link missFacts} has the reason, where it is known. */
function describeCache(tokens: Counts, { requests, read, input }: CacheShare): string {
  const [those, their] =
    requests === 1 ? ["the request before it", "its"] : [`the ${requests} requests before it`, "their"];
  const own = formatShare(tokens.cache_read, inputOf(tokens)) || "0%";
  return `${those} in this session read ${formatShare(read, input) || "0%"} of ${their} input from the cache, this one ${own}`;
}

/** Says why the cache was missed, who says so, what that cost, and how to avoid it. */
function missFacts({ source, missed, record, before }: ExaminedRequest): Fact[] {
  const { miss, miss_by: by, miss_tokens: tokens } = source;
  if (miss === null) return [];
  const who = by === "said" ? "the service says so" : "inferred from the requests of its conversation";
  const habit = habitFor(miss);
  const idle = miss.startsWith("idle_") && before !== null ? describeIdle(record, before) : "";
  const lost =
    tokens === null ? "" : `: ${pluralize(tokens, "token")} of it could have been read from the cache`;
  const facts: (Fact | false)[] = [
    ["missed", `${toPrintable(describeMiss(miss))}${idle} (${who})${lost}${describeLoss(missed)}`],
    habit !== null && ["", habit],
  ];
  return facts.filter((fact) => fact !== false);
}

function describeIdle({ ts }: UsageRecord, { endedAt }: CacheShare): string {
  const minutes = Math.floor((Date.parse(ts) - endedAt) / 60_000);
  return minutes > 0 ? `; it was idle for ${pluralize(minutes, "minute")}` : "";
}

function describeLoss(missed: ExaminedRequest["missed"]): string {
  if (missed === null) return "";
  const { amount, worth, isExact } = missed;
  const sign = isExact ? "" : "≥";
  if (worth !== null) return `, which would have been worth ${sign}${formatDollars(worth)} less`;
  return amount === 0n ? "" : `, for ${sign}${formatDollars(amount)} less`;
}
