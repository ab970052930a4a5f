import type { SummableRecord } from "../ledger/record.ts";
import { isPaidByTool } from "../plans/names.ts";
import { hasSpentNothing } from "../ledger/spend.ts";
import { BackgroundCounts } from "./background-counts.ts";
import { ASSUMED_CONTEXT, type BudgetRequest, type Spender } from "./budget-request.ts";
import type { Budget } from "./budget.ts";
import { boundRequest } from "./estimate.ts";
import { RecentRequests } from "./recent-requests.ts";
import { RunningRequests, type Reservation } from "./running.ts";
import { amountOf, spentBy, type Spent } from "./spent.ts";
import { isLifted, withoutPast, type BudgetState } from "./state.ts";
import { Gauges, type BudgetSettings } from "./gauges.ts";
import type { EncodedGauge, Gauge } from "./gauge.ts";
import { findWarnings, type BudgetWarning } from "./warnings.ts";

/** Why a request is refused. Amounts are in the budget's unit, times in milliseconds since 1970. */
export interface SpentBudget {
  budget: Budget;
  tool: string;
  spent: bigint;
  /** The part of `spent` that is assumed. */
  assumed: bigint;
  /** What running requests are reserved for, and how many run. */
  reserved: bigint;
  running: number;
  /** What the batch may spend that there is no room for; null for a single request, which needs no more than any room. */
  asked: bigint | null;
  /** When less than the limit will have been spent; null if never. */
  opensAt: number | null;
}

/** What a request is reserved for. `percent` is that of the budget of which the most is spent. Both are null where no budget is for it. */
interface Reserved {
  reservation: Reservation | null;
  percent: number | null;
}

/** {@link BudgetBook} as data that JSON can represent. */
export interface EncodedBook {
  gauges: readonly EncodedGauge[];
  /** Records of background responses that wait for others. */
  waiting: readonly SummableRecord[];
}

/**
 * What every budget has spent, and what running requests are reserved for. `now` is the time of a `BudgetClock`, in milliseconds since
 * 1970.
 *
 * A request is admitted while what was spent and what is reserved are together below the limit of each of its budgets. So a window
 * exceeds its limit by less than what one request costs, plus what running ones cost more than they were reserved for.
 */
export class BudgetBook {
  #settings: BudgetSettings;
  #gauges: Gauges;
  #state: BudgetState;
  readonly #background = new BackgroundCounts();
  readonly #recent = new RecentRequests();
  readonly #chains = new Chains();
  /** What was counted last: mostly the record whose reservation ends next. */
  #counted: { record: SummableRecord; spent: Spent } | null = null;
  readonly #running = new RunningRequests(this.#recent);
  #version = 0;

  /** The ledger's records since {@link neededSince} are to be added next. */
  constructor(settings: BudgetSettings, state: BudgetState, now: number) {
    this.#settings = settings;
    this.#state = state;
    this.#gauges = new Gauges(settings, (windows) => windows.at(now).start);
    this.#applyResets();
  }

  /** What must survive a restart. It changes with lifts, resets and warnings. */
  get state(): BudgetState {
    return this.#state;
  }

  /** One for each budget, in the order of the configuration. */
  get gauges(): readonly Gauge[] {
    return this.#gauges.all;
  }

  get runningCount(): number {
    return this.#running.count;
  }

  /**
   * False when the ledger is to be read again, because counts may be too small: a budget is new, or the clock was set back further than
   * the book remembers.
   */
  isWhole(now: number): boolean {
    return this.gauges.every((gauge) => gauge.isWhole(now));
  }

  /** Returns since when the records are needed, to the newest, for the windows of `now`. */
  neededSince(now: number): number {
    return Math.min(now, ...this.gauges.map(({ windows }) => windows.at(now).start));
  }

  /** Counts a record of the ledger. Records may come in any order, each once. */
  add(record: SummableRecord): void {
    this.#chains.add(record);
    for (const { request, sign } of this.#background.add(record)) {
      const time = Date.parse(request.record.ts);
      const gauges = this.#gauges.for(request.record);
      if (!gauges.some((gauge) => gauge.remembers(time))) continue;
      const spent = spentBy(request, this.#settings.prices);
      if (request.source === record) this.#counted = { record, spent };
      for (const gauge of gauges) gauge.add(time, spent, sign);
    }
  }

  /** Counts what many requests of somebody spent in a time for which `needsRecords` is false. `from` is its first moment. */
  addSum(spender: Spender, from: number, spent: Spent): void {
    for (const gauge of this.#gauges.for(spender)) gauge.add(from, spent);
  }

  /** Says which budget refuses a request; null for one that may go. Not for requests that never spend. */
  judge(request: BudgetRequest, now: number): SpentBudget | null {
    const gauges = this.#gauges.for(request);
    // A batch is many requests: it has to fit as a whole. A single one may be the last, whatever it costs.
    const bound =
      request.parts === null || gauges.length === 0
        ? null
        : boundRequest(request, this.#settings.prices, now);
    const askedOf = ({ budget }: Gauge) =>
      bound === null ? null : amountOf(budget, bound.input) + amountOf(budget, bound.output);
    const refusing = gauges.find(
      (gauge) =>
        gauge.refuses(now, askedOf(gauge)) &&
        !this.#isLifted(gauge.budget, request.tool, now) &&
        !this.#isFree(request, gauge.budget, now),
    );
    return refusing === undefined ? null : this.#explain(refusing, request, askedOf(refusing), now);
  }

  /** Reserves what a request may spend that {@link BudgetBook.judge} lets go. */
  reserve(request: BudgetRequest, now: number): Reserved {
    const gauges = this.#gauges.for(request);
    if (gauges.length === 0) return { reservation: null, percent: null };
    const percent = Math.max(...gauges.map((gauge) => gauge.percent(now)));
    const input = request.input + this.#chains.contextOf(request.previous);
    return {
      reservation: this.#running.reserve({ ...request, input }, gauges, this.#settings.prices, now),
      percent: Math.max(0, percent),
    };
  }

  /** Returns how much is spent, in percent, of the budget of which the most is; null where no budget is for the spender. */
  percentFor(spender: Spender, now: number): number | null {
    const percents = this.#gauges.for(spender).map((gauge) => gauge.percent(now));
    return percents.length === 0 ? null : Math.max(...percents);
  }

  /** Ends a reservation. Its record, if there is one, tells what is usual for its tool. */
  release(reservation: Reservation, record: SummableRecord | null): void {
    if (!this.#running.release(reservation) || record === null || hasSpentNothing(record)) return;
    const { bound, request } = reservation;
    if (record.usage === "absent") this.#recent.add(request.tool, { bound, spent: null });
    if (record.usage !== "final") return;
    const last = this.#counted?.record.id === record.id ? this.#counted.spent : null;
    const { known, assumed } = last ?? spentBy({ record, source: record }, this.#settings.prices);
    this.#recent.add(request.tool, { bound, spent: { ...known, usd: known.usd + assumed.usd } });
  }

  /** Ends a request: releases its reservation, counts its record if there is one, and returns what there is to warn of. */
  settle(reservation: Reservation | null, record: SummableRecord | null, now: number): BudgetWarning[] {
    if (record !== null) this.add(record);
    if (reservation !== null) this.release(reservation, record);
    if (record === null) return [];
    return this.#warn(this.#gauges.for(record), now);
  }

  /** Returns what there is to warn of, after the ledger was read or limits have changed. */
  warnings(now: number): BudgetWarning[] {
    return this.#warn(this.gauges, now);
  }

  /**
   * Takes over another configuration. What was counted stays with each budget, whatever its limit. Until the ledger has been read again
   * ({@link recount}), a new budget counts only from now on, and new prices and groups apply only to new requests.
   */
  reload(settings: BudgetSettings, now: number): void {
    this.#version += 1;
    this.#settings = settings;
    this.#gauges = new Gauges(settings, () => now, this.#gauges);
    this.#applyResets();
    this.#running.moveTo((request) => this.#gauges.for(request));
  }

  /** Changes with the settings, and with resets. What was counted by another version is of no use. */
  get version(): number {
    return this.#version;
  }

  /** Replaces all counts by those of a book of this {@link version} to which the ledger was added, and adds the records `since`. */
  recount({ gauges, waiting }: EncodedBook, since: readonly SummableRecord[]): void {
    for (const encoded of gauges) this.#gauges.find(encoded.id)?.replace(encoded);
    this.#background.restore(waiting);
    for (const record of since) this.add(record);
  }

  encode(): EncodedBook {
    return { gauges: this.gauges.map((gauge) => gauge.encode()), waiting: this.#background.waiting() };
  }

  /** Lets no budget refuse a tool for a while, except locked ones; null for all tools. A second lift of a tool replaces the first. */
  lift(tool: string | null, now: number, until: number): void {
    const others = this.#state.lifts.filter((lift) => lift.tool !== tool);
    this.#change({ lifts: [...others, { tool, from: now, until }] }, now);
  }

  /** Lets the window of a budget start now, so that nothing of it is spent. Returns false when there is no such budget. */
  reset(id: string, now: number): boolean {
    const gauge = this.#gauges.find(id);
    if (gauge === undefined) return false;
    const ahead = Math.max(now, gauge.latest());
    const until = Math.max(gauge.windows.endOf(now), ahead + 1);
    const resets = this.#state.resets.filter(({ budget }) => budget !== id);
    const warned = this.#state.warned.filter(({ budget }) => budget !== id);
    this.#change({ resets: [...resets, { budget: id, at: now, ahead, until }], warned }, now);
    this.#version += 1;
    this.#applyResets();
    return true;
  }

  /**
   * True where a request costs nothing of a spent budget: with a plan, and at an upstream that takes no key. There a budget of nothing
   * refuses all the same.
   */
  #isFree({ upstream, model }: BudgetRequest, { limit, amount }: Budget, now: number): boolean {
    if ("usd" in limit && isPaidByTool(upstream)) return true;
    return (
      "usd" in limit && amount > 0n && this.#settings.prices?.find(upstream, model ?? "", now) === "free"
    );
  }

  #isLifted(budget: Budget, tool: string, now: number): boolean {
    return isLifted(this.#state.lifts, tool, now) && !this.#settings.isLocked(budget);
  }

  #applyResets(): void {
    for (const reset of this.#state.resets) this.#gauges.find(reset.budget)?.reset(reset);
  }

  #change(changes: Partial<BudgetState>, now: number): void {
    this.#state = withoutPast({ ...this.#state, ...changes }, now);
  }

  #warn(gauges: readonly Gauge[], now: number): BudgetWarning[] {
    const { warnings, warned } = findWarnings(gauges, this.#state.warned, now);
    if (warned.length > 0) this.#change({ warned: [...this.#state.warned, ...warned] }, now);
    return warnings;
  }

  #explain(gauge: Gauge, { tool }: BudgetRequest, asked: bigint | null, now: number): SpentBudget {
    return {
      budget: gauge.budget,
      tool,
      spent: gauge.spent(now),
      assumed: gauge.assumed(now),
      reserved: gauge.reserved,
      running: this.runningCount,
      asked: gauge.refuses(now, null) ? null : asked,
      opensAt: gauge.opensAt(now),
    };
  }
}

/** How many responses are remembered that a request may continue. Ids are the service's own. */
const MAX_RESPONSES = 2_000;

/** How large the conversations are that responses belong to: a request that continues one has it as input (`previous_response_id`). */
class Chains {
  /** Tokens by the id of the response. The latest is the last one. */
  readonly #contexts = new Map<string, number>();

  add({ response_id: id, route, tokens }: Pick<SummableRecord, "response_id" | "route" | "tokens">): void {
    if (id === null || tokens === null || !route.startsWith("/responses")) return;
    const { input_uncached: uncached, cache_read: read, cache_write: written, output } = tokens;
    this.#contexts.delete(id);
    this.#contexts.set(id, uncached + read + written + output);
    const [oldest] = this.#contexts.keys();
    if (this.#contexts.size > MAX_RESPONSES && oldest !== undefined) this.#contexts.delete(oldest);
  }

  /** Returns how many tokens of input a request has besides its body. What is not known is assumed. */
  contextOf(previous: string | null): number {
    return previous === null ? 0 : (this.#contexts.get(previous) ?? ASSUMED_CONTEXT);
  }
}
