import { homeDirectory } from "../../../../adapters/paths.ts";
import { USUAL_DAYS } from "../../../../core/ledger/explain/neighbours.ts";
import {
  LEAST_USUAL,
  modelOf,
  type Measures,
  type Usual,
} from "../../../../core/ledger/explain/usual-requests.ts";
import type { UsageRecord } from "../../../../core/ledger/record.ts";
import { formatDollars, type Money } from "../../../../core/price/money.ts";
import { formatShare } from "../../../prices/format-cost.ts";
import { displayPath, formatNumber, pluralize } from "../../../terminal/format.ts";
import type { Column } from "../../../terminal/table.ts";
import { formatDuration } from "./duration.ts";
import type { ExaminedRequest } from "./examine.ts";

/** Of a comparison. */
export const USUAL_COLUMNS: readonly Column[] = [
  { head: "", align: "left" },
  { head: "this one", align: "right" },
  { head: "usual", align: "right" },
  { head: "", align: "left" },
];

const NAMES: Readonly<Record<keyof Measures, string>> = {
  cost: "cost",
  input: "tokens in",
  cached: "from cache",
  output: "tokens out",
  duration: "duration",
};

/** Returns what a request is compared with, in words. */
export function describeUsual({ project, requests }: Usual, record: UsageRecord): string {
  const where = project === null ? "" : ` in ${displayPath(project, homeDirectory())}`;
  const those = `${record.tool} with ${modelOf(record) ?? "no model"}${where}`;
  const days = `in the ${USUAL_DAYS} days before`;
  if (requests === 0) return `with none: there is no other request of ${those} ${days}`;
  return requests < LEAST_USUAL
    ? `with none: only ${pluralize(requests, "request")} of ${those} ${days}, and ${LEAST_USUAL} are needed`
    : `with the median of ${pluralize(requests, "request")} of ${those} ${days}`;
}

/** Returns rows of {@link USUAL_COLUMNS}: what is known of both. */
export function usualRows({ measures, usual }: ExaminedRequest): string[][] {
  const medians = usual?.medians ?? null;
  if (medians === null) return [];
  return (Object.keys(NAMES) as (keyof Measures)[]).flatMap((name) => {
    const [own, median] = [measures[name], medians[name]];
    if (own === null || median === null) return [];
    // Shares are not said to be times each other.
    const times = name === "cached" ? "" : describeTimes(ratioOf(own, median));
    return [[NAMES[name], formatMeasure(name, own), formatMeasure(name, median), times]];
  });
}

function formatMeasure(name: keyof Measures, value: number | Money): string {
  if (typeof value === "bigint") return formatDollars(value);
  if (name === "cached") return formatShare(value, 1);
  return name === "duration" ? formatDuration(value) : formatNumber(value);
}

/** Returns how many times the usual cost a request cost; null where that is not known. */
export function timesUsualCost({ measures, usual }: ExaminedRequest): number | null {
  const median = usual?.medians?.cost ?? null;
  return measures.cost === null || median === null ? null : ratioOf(measures.cost, median);
}

/** Returns null for a number of times nothing. */
export function ratioOf(own: number | Money, median: number | Money): number | null {
  return Number(median) === 0 ? null : Number(own) / Number(median);
}

/** Nearer to the usual than this is as usual. */
const ABOUT = 0.05;

/** Returns e.g. `3.2 times the usual`, `as usual`; nothing where it is not known. */
export function describeTimes(ratio: number | null): string {
  if (ratio === null) return "";
  if (Math.abs(ratio - 1) < ABOUT) return "as usual";
  const digits = ratio < 0.095 ? 100 : 10;
  const rounded = ratio >= 9.95 ? Math.round(ratio) : Math.round(ratio * digits) / digits;
  return rounded === 0 ? "far less than usual" : `${formatNumber(rounded)} times the usual`;
}
