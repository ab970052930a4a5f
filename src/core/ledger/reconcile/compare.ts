import type { Calendar } from "../calendar.ts";
import { parseMoney, type Money } from "../../price/money.ts";
import type { LedgerUsage } from "./ledger-usage.ts";
import { commonName } from "./model-names.ts";
import type { ServiceExport, ServiceRow } from "./service-row.ts";
import { noUsage, sumRows, TOKEN_SUMS, type LedgerSums, type Sums, type TokenSum } from "./sums.ts";

/** Services round costs to cents in some exports, and to less in others. */
const CENT = parseMoney("0.01") ?? 0n;

/** A model on a day: what the service says of it, and what the ledger does. */
export interface Cell {
  day: string;
  /** By the common name; null where the export does not tell models apart. */
  model: string | null;
  service: Sums;
  ledger: LedgerSums;
  /** How much more the service has than the ledger, where both know. */
  differences: Partial<Record<TokenSum, number>>;
  /** The same in money. null if the export has no costs. */
  costDifference: Money | null;
  isMatch: boolean;
}

/** What to compare. */
export interface Sides {
  exported: Pick<ServiceExport, "rows" | "empty" | "nothing">;
  usage: LedgerUsage;
  /** The upstreams whose usage the export is about. */
  upstreams: ReadonlySet<string>;
}

/**
 * Compares a service's export with the ledger, by days of `calendar`, from the first day of the export to the last. Models go by their common
 * names; if one row does not name its model, all models of a day are compared together.
 */
export function compare({ exported, usage, upstreams }: Sides, calendar: Calendar): Cell[] {
  const { rows, empty } = exported;
  const hasModels = rows.every(({ model }) => model !== null);
  const keyOf = (day: string, model: string | null) => JSON.stringify([day, hasModels ? model : null]);
  const byKey = new Map<string, ServiceRow[]>();
  for (const row of rows) {
    const key = keyOf(dayAt(row.when, calendar), row.model === null ? null : commonName(row.model));
    const group = byKey.get(key);
    if (group === undefined) byKey.set(key, [row]);
    else group.push(row);
  }
  const ledger = usage.byDay(calendar, upstreams, keyOf);
  const times = [...rows.map(({ when }) => when), ...empty];
  const days = times.map((when) => dayAt(when, calendar)).toSorted();
  const [first = "", last = ""] = [days[0], days.at(-1)];
  return [...new Set([...byKey.keys(), ...ledger.keys()])]
    .toSorted()
    .map((key) => {
      const [day, model] = JSON.parse(key) as [string, string | null];
      const used = byKey.get(key);
      const service = used === undefined ? nothingOf(exported) : sumRows(used);
      return toCell(day, model, service, ledger.get(key) ?? noUsage());
    })
    .filter(({ day }) => day >= first && day <= last);
}

/** What a service leaves out is 0, of what its other rows say. */
function nothingOf({ rows: [first], nothing }: Sides["exported"]): Sums {
  if (first === undefined) return nothing;
  const { tokens, cost } = first;
  const zeros = tokens && {
    input: 0,
    cache_read: tokens.cache_read && 0,
    cache_write: tokens.cache_write && 0,
    output: 0,
  };
  return { tokens: zeros, cost: cost && 0n };
}

function dayAt(when: ServiceRow["when"], calendar: Calendar): string {
  return "day" in when ? when.day : calendar.dayOf(when.at);
}

function toCell(day: string, model: string | null, service: Sums, ledger: LedgerSums): Cell {
  const differences: Cell["differences"] = {};
  for (const name of TOKEN_SUMS) {
    const sum = service.tokens?.[name] ?? null;
    if (sum !== null) differences[name] = sum - ledger.tokens[name];
  }
  const costDifference = service.cost === null ? null : service.cost - ledger.cost;
  const isMatch =
    Object.values(differences).every((difference) => difference === 0) &&
    (costDifference === null || (costDifference < CENT && costDifference > -CENT));
  return { day, model, service, ledger, differences, costDifference, isMatch };
}

/** Returns whether the service has more of everything that is compared, or less of everything; `mixed` otherwise. */
export function sideWithMore({ differences, costDifference }: Cell): "service" | "ledger" | "mixed" {
  const all = [...Object.values(differences), ...(costDifference === null ? [] : [costDifference])];
  if (all.every((difference) => difference >= 0)) return "service";
  return all.every((difference) => difference <= 0) ? "ledger" : "mixed";
}
