import type { PriceBook } from "../price/price-book.ts";
import type { BudgetRequest } from "./budget-request.ts";
import { estimateRequest } from "./estimate.ts";
import type { ReservedTokens } from "./kept-reservation.ts";
import type { Meter } from "./meter.ts";
import type { RecentRequests } from "./recent-requests.ts";
import { amountOf, type Spent } from "./spent.ts";

/** What a running request is reserved for. It ends with `BudgetBook.settle`. */
export interface Reservation {
  readonly request: BudgetRequest;
  /** What the request may spend by its size. */
  readonly most: Spent["assumed"];
  /** What its record keeps while its usage is not known. */
  readonly reserved: ReservedTokens;
  holds: readonly (readonly [meter: Meter, amount: bigint])[];
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
    meters: readonly Meter[],
    prices: PriceBook | null,
    now: number,
  ): Reservation {
    const most = estimateRequest(request, prices, now);
    const { input, output } = most.tokens;
    const reservation = { request, most, reserved: { input, output }, holds: [] };
    this.#hold(reservation, meters);
    this.#reservations.add(reservation);
    return reservation;
  }

  /** Ends a reservation. A second time it does nothing. */
  release(reservation: Reservation): void {
    if (this.#reservations.delete(reservation)) releaseHolds(reservation);
  }

  /** Reserves for all of them with other meters. */
  moveTo(metersFor: (request: BudgetRequest) => readonly Meter[]): void {
    for (const reservation of this.#reservations) releaseHolds(reservation);
    for (const reservation of this.#reservations) this.#hold(reservation, metersFor(reservation.request));
  }

  /** Reserves what a request may spend by its size, or what requests of the tool usually do, whichever is less. */
  #hold(reservation: Reservation, meters: readonly Meter[]): void {
    const { request, most } = reservation;
    reservation.holds = meters.map((meter) => {
      const bound = amountOf(meter.budget, most);
      const usual = this.#recent.usual(request.tool, meter.budget) ?? bound;
      const amount = usual < bound ? usual : bound;
      meter.reserved += amount;
      return [meter, amount];
    });
  }
}

function releaseHolds(reservation: Reservation): void {
  for (const [meter, amount] of reservation.holds) meter.reserved -= amount;
  reservation.holds = [];
}
