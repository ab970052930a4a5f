import { visitDay, findDays } from "../../../../adapters/ledger-file.ts";
import type { Config } from "../../../../core/config/config.ts";
import { SANDBOX_UPSTREAM } from "../../../../core/config/names.ts";
import { explainDecision, NOTHING_STANDS } from "../../../../core/decide/explain.ts";
import { prepareSettings } from "../../../../core/decide/settings.ts";
import { guessApi } from "../../../../core/http/routes.ts";
import type { CacheShare } from "../../../../core/ledger/explain/cache-before.ts";
import { Neighbours, rangeOf } from "../../../../core/ledger/explain/neighbours.ts";
import { measuresOf, type Measures, type Usual } from "../../../../core/ledger/explain/usual-requests.ts";
import { costInSums, type RequestCost } from "../../../../core/ledger/explain/request-cost.ts";
import type { SummableRecord, UsageRecord } from "../../../../core/ledger/record.ts";
import { configuredName, hasPlanLogin, isPaidByTool } from "../../../../core/plans/names.ts";
import { missedCostOf, type MissedCost } from "../../../../core/price/missed.ts";
import { costOf, worthOf, type Cost } from "../../../../core/price/cost.ts";
import type { Money } from "../../../../core/price/money.ts";
import type { PriceBook } from "../../../../core/price/price-book.ts";
import { daysOf } from "../../../ledger/records-of-period.ts";

/** What explains a record. */
interface Sources {
  config: Config;
  directory: string;
  prices: PriceBook;
}

/** What the present configuration says of a request: which upstream gets it, and what is said of the recorded one. */
interface Routing {
  chosen: string | null;
  /** The address of the recorded upstream; null if the configuration no longer has it. */
  baseUrl: string | null;
  /** False for one that takes no key. */
  takesKey: boolean;
  /** Why the recorded upstream gets the request, or does not; null if the configuration no longer has it. */
  reason: string | null;
}

/** Everything that is known of one request. */
export interface ExaminedRequest extends RequestCost {
  record: UsageRecord;
  prices: PriceBook;
  /** null where the request names no model, and in the sandbox. */
  routing: Routing | null;
  attempts: readonly SummableRecord[];
  measures: Measures;
  /** null for a request that has used nothing. */
  usual: Usual | null;
  before: CacheShare | null;
  /** What it cost more than if it had hit the cache; null where it is not known to have missed it. */
  missed: MissedCost | null;
}

/** Finds out all about a request. Reads the records of the days before it, and of the day after. */
export async function examine(
  record: UsageRecord,
  { config, directory, prices }: Sources,
): Promise<ExaminedRequest> {
  const neighbours = new Neighbours(record);
  for (const day of findDays(directory, daysOf(rangeOf(record))))
    await visitDay(directory, day, (entry) => {
      if (!("unreadable" in entry)) neighbours.add(entry);
    });
  const counted = costInSums(record, neighbours.background(), prices);
  const { kind, source, cost, worth } = counted;
  const priceOf = isPaidByTool(record.upstream) ? worthOf : costOf;
  return {
    record,
    ...counted,
    prices,
    routing: findRouting(config, record),
    attempts: neighbours.attempts(),
    measures: measuresOf({ ...source, duration_ms: record.duration_ms }, exactAmount(worth ?? cost)),
    usual:
      kind === "request" && source.tokens !== null
        ? neighbours.usual.medians((other) => exactAmount(priceOf(other, prices)))
        : null,
    before: source.tokens === null ? null : neighbours.cache.share(),
    missed: missedCostOf(source, prices),
  };
}

/** Returns null for an amount that is only a part, and for what costs nothing. */
function exactAmount(cost: Cost | null): Money | null {
  if (cost?.kind !== "priced" || cost.isLowerBound || cost.from === "free") return null;
  return cost.amount;
}

function findRouting(config: Config, record: UsageRecord): Routing | null {
  const { tool, route, upstream, model_requested: model, outcome } = record;
  const names = Object.keys(config.upstreams);
  if (model === null || names.length === 0 || upstream === SANDBOX_UPSTREAM || hasPlanLogin(upstream))
    return null;
  const { verdicts } = explainDecision(
    prepareSettings(config),
    { tool, api: guessApi(route), model },
    NOTHING_STANDS,
  );
  const recorded = verdicts.find((verdict) => verdict.upstream.name === configuredName(upstream));
  const chosen = verdicts.find(({ isChosen }) => isChosen);
  if (outcome === "rejected" && recorded === undefined) return null;
  return {
    chosen: chosen?.upstream.name ?? null,
    baseUrl: recorded?.upstream.baseUrl ?? null,
    takesKey: recorded?.upstream.auth !== "none",
    reason: recorded?.reason ?? null,
  };
}
