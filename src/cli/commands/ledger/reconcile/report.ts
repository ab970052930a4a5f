import type { Calendar } from "../../../../core/ledger/calendar.ts";
import type { Cell } from "../../../../core/ledger/reconcile/compare.ts";
import type { Reason } from "../../../../core/ledger/reconcile/reasons.ts";
import type { ServiceExport } from "../../../../core/ledger/reconcile/service-row.ts";
import { TOKEN_SUMS } from "../../../../core/ledger/reconcile/sums.ts";
import { formatDollars, formatIfKnown, formatMoney, type Money } from "../../../../core/price/money.ts";
import { toPrintable } from "../../../../core/text/printable.ts";
import { formatNumber, pluralize } from "../../../terminal/format.ts";
import { formatTable } from "../../../terminal/table.ts";

/** So many differences are listed. */
const MOST_LISTED = 100;

/** A service's export beside the ledger. */
interface Reconciliation {
  file: string;
  exported: ServiceExport;
  calendar: Calendar;
  upstreams: ReadonlySet<string>;
  /** The upstream that was asked for, which may be a pattern. */
  upstream?: string | undefined;
  cells: readonly Cell[];
  reasons: readonly Reason[];
}

/** Returns the result as text: what was compared, the differences, and their likely reasons. */
export function describeReconciliation(result: Reconciliation): string {
  const { file, exported, calendar, upstreams, upstream, cells, reasons } = result;
  const days = cells.map(({ day }) => day);
  const none =
    upstream === undefined
      ? "no upstream, because the ledger has no request that this service billed"
      : `no upstream, because none that served a request is called ${upstream}`;
  const where = upstreams.size === 0 ? none : [...upstreams].toSorted().join(", ");
  const matching = cells.filter(({ isMatch }) => isMatch).length;
  const by = cells.some(({ model }) => model !== null) ? "day and model" : "day";
  const rows = cells.filter(({ isMatch }) => !isMatch).flatMap(rowsOf);
  const parts = [
    `${file}: ${exported.form}, ${pluralize(exported.rows.length, "row")}, ${describeDays(days)} (${calendar.zone})\nCompared with: ${toPrintable(where)}`,
    `By ${by}, ${formatNumber(matching)} of ${formatNumber(cells.length)} match.`,
    rows.length > 0 && formatTable(COLUMNS, rows.slice(0, MOST_LISTED)),
    rows.length > MOST_LISTED &&
      `${formatNumber(rows.length - MOST_LISTED)} more are in the output of --json.`,
    reasons.length > 0 && `Likely reasons:\n${reasons.map(describeReason).join("\n")}`,
    describeKeys(exported),
  ];
  return parts.filter((part) => part !== false).join("\n\n");
}

/** Days without usage on both sides have no cell. */
function describeDays(days: readonly string[]): string {
  return days.length === 0 ? "no usage" : `${days[0]} to ${days.at(-1)}`;
}

const COLUMNS = [
  "day",
  "model",
  "what",
  ...["service", "ledger", "difference"].map((head) => ({ head, align: "right" as const })),
];

function rowsOf({ day, model, service, ledger, differences, costDifference }: Cell): string[][] {
  const names = [day, toPrintable(model ?? "all")];
  const tokens = TOKEN_SUMS.flatMap((name) => {
    const difference = differences[name] ?? 0;
    if (difference === 0) return [];
    const label = name.replace("_", " ");
    const cells = [formatNumber(service.tokens?.[name] ?? 0), formatNumber(ledger.tokens[name])];
    return [[...names, label, ...cells, `${difference > 0 ? "+" : ""}${formatNumber(difference)}`]];
  });
  if (costDifference === null || service.cost === null) return tokens;
  const cost = [
    formatDollars(service.cost),
    formatDollars(ledger.cost),
    signed(costDifference, formatDollars),
  ];
  return [...tokens, [...names, "cost", ...cost]];
}

function signed(amount: Money, format: (amount: Money) => string): string {
  return amount < 0n ? `-${format(-amount)}` : `+${format(amount)}`;
}

function describeReason({ what, fix }: Reason): string {
  return fix === null ? `- ${toPrintable(what)}` : `- ${toPrintable(what)}. Type:\n  ${toPrintable(fix)}`;
}

/** Says which keys an export of several is about. */
function describeKeys({ keys }: ServiceExport): string | false {
  const names = toPrintable([...keys.keys()].toSorted().join(", "));
  return keys.size > 1 && `The export is of ${pluralize(keys.size, "key")}: ${names}.`;
}

/** Returns the result as a document for programs. */
export function toDocument({ file, exported, calendar, upstreams, cells, reasons }: Reconciliation): object {
  const days = cells.map(({ day }) => day);
  return {
    file,
    form: exported.form,
    rows: exported.rows.length,
    keys: [...exported.keys.keys()].toSorted(),
    from: days[0] ?? null,
    to: days.at(-1) ?? null,
    timeZone: calendar.zone,
    upstreams: [...upstreams].toSorted(),
    isMatch: cells.every(({ isMatch }) => isMatch),
    cells: cells.map(({ day, model, isMatch, service, ledger, differences, costDifference }) => {
      const { tokens, cost, ...counts } = ledger;
      return {
        day,
        model,
        isMatch,
        service: { ...service.tokens, costUsd: formatIfKnown(service.cost) },
        ledger: { ...tokens, costUsd: service.cost === null ? null : formatMoney(cost), ...counts },
        difference: {
          ...differences,
          costUsd: costDifference === null ? null : signedDollars(costDifference),
        },
      };
    }),
    reasons: reasons.map(({ code, what, fix }) => ({ code, message: what, fix })),
  };
}

function signedDollars(amount: Money): string {
  return amount < 0n ? `-${formatMoney(-amount)}` : formatMoney(amount);
}
