import type { Budget } from "../../src/core/budget/budget.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";

/** Dollars for a million tokens, in millionths, so that a token costs so many 10^-12 dollars. `null` stands for a model without a price. */
const RATES: Record<string, [input: bigint, read: bigint, write: bigint, output: bigint] | null> = {
  plain: [1_000_000n, 100_000n, 2_000_000n, 10_000_000n],
  dear: [5_000_000n, 500_000n, 10_000_000n, 50_000_000n],
  nobody: null,
};
const DEAREST = RATES["dear"] ?? [0n, 0n, 0n, 0n];

const third = (bytes: number) => Math.trunc((bytes + 2) / 3);

/** What a request spent in millionths of a millionth of a dollar, or in tokens of a class; whether it is only assumed. */
function amountOf({ limit, unpriced }: Budget, record: UsageRecord, source: UsageRecord): bigint {
  if (record.upstream === "sandbox" || record.outcome === "rejected" || record.usage === "none") return 0n;
  const known = source.tokens;
  const tokens = (
    known === null
      ? [third(source.bytes_in), 0, 0, source.output_estimate ?? third(source.bytes_out)]
      : [known.input_uncached, known.cache_read, known.cache_write, known.output]
  ).map(BigInt);
  const isCounted = known !== null || unpriced === "dearest";
  const at =
    "class" in limit ? ["input", "cacheRead", "cacheWrite", "output"].indexOf(limit.class ?? "all") : -1;
  if (!("usd" in limit)) {
    const all = tokens.filter((_, i) => at === -1 || i === at).reduce((a, b) => a + b, 0n);
    return isCounted ? all : 0n;
  }
  const given = RATES[source.model ?? "nobody"] ?? null;
  const rates = given === null && record.upstream === "local" ? [0n, 0n, 0n, 0n] : given;
  if (source.billed_usd !== null) return BigInt(Math.round(Number(source.billed_usd) * 1e6)) * 1_000_000n;
  if (!isCounted || (unpriced === "allow" && rates === null)) return 0n;
  return tokens.reduce((sum, count, i) => sum + count * ((rates ?? DEAREST)[i] ?? 0n), 0n);
}

/** The name of the window of the calendar that a time is in. Those of earlier times are smaller. */
function labelOf(time: number, per: string, zone: string): string {
  const [date = "", hour = ""] = new Date(time).toLocaleString("sv-SE", { timeZone: zone }).split(" ");
  const days = Date.parse(date) / 86_400_000;
  const labels = { hour: `${date} ${hour.slice(0, 2)}`, day: date, month: date.slice(0, 7) };
  return per === "week" ? String(Math.floor((days + 3) / 7)) : (labels[per as "day"] ?? "");
}

function isInWindow({ window }: Budget, time: number, now: number, zone: string): boolean {
  if ("per" in window) return labelOf(time, window.per, zone) >= labelOf(now, window.per, zone);
  const step = window.rolling > 24 ? 3_600_000 : 300_000;
  return Math.floor(time / step) >= Math.floor((now - window.rolling * 3_600_000) / step);
}

/** Returns what counts of a budget at a time: all records are looked at again. `resetAt` is when it was reset last. */
export function countNaively(
  budget: Budget,
  records: readonly UsageRecord[],
  { now, zone, resetAt }: { now: number; zone: string; resetAt: number | null },
): bigint {
  const { scope } = budget;
  const fetched = new Map(records.filter((one) => one.method === "GET").map((one) => [one.response_id, one]));
  let sum = 0n;
  for (const record of records) {
    const time = Date.parse(record.ts);
    const whose = {
      all: "",
      tool: record.tool,
      group: record.tool.length % 2 ? "odd" : "even",
      project: record.project,
      key: record.key,
    };
    if (record.method === "GET" || (scope.kind !== "all" && whose[scope.kind] !== scope.name)) continue;
    if (resetAt !== null && resetAt <= now && time < resetAt) continue;
    const source = record.usage === "pending" ? (fetched.get(record.response_id) ?? record) : record;
    if (isInWindow(budget, time, now, zone)) sum += amountOf(budget, record, source);
  }
  return "usd" in budget.limit ? sum * 10n ** 18n : sum;
}
