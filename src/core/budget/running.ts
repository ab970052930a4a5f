import type { PriceBook } from "../price/price-book.ts";
import type { BudgetRequest } from "./budget-request.ts";
import { boundRequest, type SizeBound } from "./estimate.ts";
import type { ReservedTokens } from "./kept-reservation.ts";
import type { Gauge } from "./gauge.ts";
import { ALL, partOf, tokensOf, type RecentRequests } from "./recent-requests.ts";
import { amountOf } from "./spent.ts";

/**
 * How many running requests of a budget are reserved for by what is usual, others by their size. So many can together cost more than was
 * reserved for them, however many come at once after others that cost little.
 */
const MAX_USUAL = 4;

/** What one gauge has reserved for a request. `isUsual`: by what is usual, which is less than its size allows. */
interface Held {
  gauge: Gauge;
  amount: bigint;
  isUsual: boolean;
}

/** What a running request is reserved for. It ends with `BudgetBook.release`. */
export interface Reservation {
  readonly request: BudgetRequest;
  /** What the request may spend by its size. */
  readonly bound: SizeBound;
  /** What its record keeps while its usage is not known. */
  reserved: ReservedTokens;
  held: readonly Held[];
}

/** The requests that are running, and what they are reserved for. */
export class RunningRequests {
  readonly #reservations = new Set<Reservation>();
  readonly #recent: RecentRequests;

  constructor(recent: RecentRequests) {
    this.#recent = recent;
  }

  get count(): number {
    return this.#reservations.size;
  }

  reserve(
    request: BudgetRequest,
    gauges: readonly Gauge[],
    prices: PriceBook | null,
    now: number,
  ): Reservation {
    const bound = boundRequest(request, prices, now);
    const reservation: Reservation = { request, bound, reserved: nothingOf(bound), held: [] };
    this.#hold(reservation, gauges);
    this.#reservations.add(reservation);
    return reservation;
  }

  /** Ends a reservation. Returns false if it has ended before. */
  release(reservation: Reservation): boolean {
    const isRunning = this.#reservations.delete(reservation);
    if (isRunning) releaseHeld(reservation);
    return isRunning;
  }

  /** Reserves for all of them with other gauges. */
  moveTo(metersFor: (request: BudgetRequest) => readonly Gauge[]): void {
    for (const reservation of this.#reservations) releaseHeld(reservation);
    for (const reservation of this.#reservations) this.#hold(reservation, metersFor(reservation.request));
  }

  /**
   * Reserves what a request may spend by its size, or the share of it that requests of the tool usually do. A batch may spend all that it
   * asks for: it is one of many requests, which say nothing of it.
   */
  #hold(reservation: Reservation, gauges: readonly Gauge[]): void {
    const { request, bound } = reservation;
    const reserved = nothingOf(bound);
    reservation.held = gauges.map((gauge) => {
      const [input, output] = [amountOf(gauge.budget, bound.input), amountOf(gauge.budget, bound.output)];
      const usual = request.parts === null ? this.#recent.usual(request.tool, gauge.budget) : ALL;
      const lower = partOf(input, usual.input) + partOf(output, usual.output);
      const isUsual = lower < input + output && gauge.usual < MAX_USUAL;
      const shares = isUsual ? usual : ALL;
      const amount = isUsual ? lower : input + output;
      gauge.reserved += amount;
      if (isUsual) gauge.usual += 1;
      reserved.input = Math.max(reserved.input, tokensOf(bound.input.tokens.input, shares.input));
      reserved.output = Math.max(reserved.output, tokensOf(bound.output.tokens.output, shares.output));
      return { gauge, amount, isUsual };
    });
    reservation.reserved = reserved;
  }
}

function nothingOf({ inputClass }: SizeBound): ReservedTokens {
  return { input: 0, output: 0, inputClass };
}

function releaseHeld(reservation: Reservation): void {
  for (const { gauge, amount, isUsual } of reservation.held) {
    gauge.reserved -= amount;
    if (isUsual) gauge.usual -= 1;
  }
  reservation.held = [];
}
