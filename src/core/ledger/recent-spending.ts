import { SANDBOX_UPSTREAM } from "../config/names.ts";
import { chargesOf } from "../price/charge.ts";
import { Spending, type EncodedSpending, type PriceSlots } from "../price/spending.ts";
import { timeSlots } from "../price/time-slots.ts";
import type { ExtraTokens } from "../usage/reading.ts";
import type { Calendar } from "./calendar.ts";
import { BackgroundResponses } from "./background.ts";
import type { SummableRecord } from "./record.ts";
import { classify, isBackground, type CountedRequest } from "./spend.ts";

/** How many sessions are remembered. The one that was used the longest ago is forgotten first. */
const MAX_SESSIONS = 100;

/** How many forgotten sessions are known as such. */
const MAX_FORGOTTEN = 1_000;

/** How many records of background responses are kept, because a fetch may bring the usage. */
const MAX_BACKGROUND = 200;

/** How many kinds of charges of a session are kept apart: a client could name ever new models (SECURITY.md E3). */
const MAX_TERMS = 128;
const MAX_TERMS_OF_DAY = 512;

/** Records have no more of a session's id (truncate-record.ts), however long the one is that is asked for. */
const SESSION_CHARACTERS = 256;

/** What a day or a session has spent, before it is priced. */
export interface SpendingSums {
  requests: number;
  /** Requests that the built-in sandbox responded to, which are in no other sum. */
  sandbox: number;
  /** All input tokens, those from cache included. */
  input: number;
  cacheRead: number;
  spending: EncodedSpending;
  /** False when earlier requests are not in the sums, because they were forgotten. */
  isWhole: boolean;
}

/** {@link RecentSpending} as data that can be sent. */
export interface RecentDocument {
  today: SpendingSums;
  sessions: readonly (readonly [id: string, sums: SpendingSums])[];
  forgotten: readonly string[];
  /** The records of background responses. */
  background: readonly SummableRecord[];
}

/**
 * What was spent today and in each recent session. It knows no prices, so that a daemon can keep it in little memory. spend.ts
 * decides which records count.
 */
export class RecentSpending {
  readonly #calendar: Calendar;
  #day: { from: number; until: number };
  readonly #slots: PriceSlots;
  #today: RunningSums;
  #background: SummableRecord[] = [];
  /** Until when days have been counted, and then forgotten. */
  #counted = 0;
  /** The one that was used last is the last one. */
  readonly #sessions = new Map<string, RunningSums>();
  readonly #forgotten = new Set<string>();

  /**
   * `now` is the wall time in milliseconds since 1970, here and below.
   * @param limits the sizes that prompts are told apart by: `PriceBook.allLimits`
   */
  constructor(calendar: Calendar, now: number, limits: readonly number[]) {
    this.#calendar = calendar;
    this.#slots = timeSlots(limits);
    this.#today = new RunningSums(this.#slots, MAX_TERMS_OF_DAY);
    this.#day = this.#dayAt(now);
  }

  /** Inverts {@link toDocument}, at the same time. */
  static of(
    { today, sessions, forgotten, background }: RecentDocument,
    calendar: Calendar,
    now: number,
    limits: readonly number[],
  ): RecentSpending {
    const recent = new RecentSpending(calendar, now, limits);
    const slots = recent.#slots;
    recent.#today = RunningSums.of(today, slots, MAX_TERMS_OF_DAY);
    for (const [id, sums] of sessions) recent.#sessions.set(id, RunningSums.of(sums, slots, MAX_TERMS));
    for (const id of forgotten) recent.#forgotten.add(id);
    recent.#background = [...background];
    return recent;
  }

  toDocument(): RecentDocument {
    return {
      today: this.#today.with([]),
      sessions: [...this.#sessions].map(([id, sums]) => [id, sums.with([])]),
      forgotten: [...this.#forgotten],
      background: this.#background,
    };
  }

  /** Adds the next record, in the ledger's order. */
  add(record: SummableRecord, now: number): void {
    this.#turnDay(now);
    const kind = classify(record);
    if (isBackground(record, kind)) {
      this.#background.push(record);
      if (this.#background.length > MAX_BACKGROUND) this.#settleBackground();
    } else if (kind === "request") this.#count({ record, source: record });
  }

  /** Returns today's sums, which are not whole after the clock was set back by a day. */
  today(now: number): SpendingSums {
    this.#turnDay(now);
    return this.#today.with(this.#countedBackground().filter((counted) => this.#isToday(counted)));
  }

  /** Returns the sums of a session; null when it is not among the recent ones. */
  session(id: string): SpendingSums | null {
    const key = keyOf(id);
    const background = this.#countedBackground().filter(
      ({ record }) => record.session !== null && keyOf(record.session) === key,
    );
    if (background.length === 0 && !this.#sessions.has(key)) return null;
    return this.#session(id).with(background);
  }

  #count(counted: CountedRequest): void {
    if (this.#isToday(counted)) this.#today.add(counted);
    const { session } = counted.record;
    if (session !== null) this.#session(session).add(counted);
  }

  #countedBackground(): CountedRequest[] {
    const responses = new BackgroundResponses();
    for (const record of this.#background) responses.add(record);
    return responses.counted();
  }

  /** Counts them with the usage that they have by now. */
  #settleBackground(): void {
    const counted = this.#countedBackground();
    this.#background = [];
    for (const one of counted) this.#count(one);
  }

  #session(id: string): RunningSums {
    const key = keyOf(id);
    const sums =
      this.#sessions.get(key) ?? new RunningSums(this.#slots, MAX_TERMS, !this.#forgotten.has(key));
    this.#sessions.delete(key);
    this.#sessions.set(key, sums);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#forget(oldest);
    return sums;
  }

  #forget(key: string): void {
    this.#sessions.delete(key);
    this.#forgotten.delete(key);
    this.#forgotten.add(key);
    const [oldest] = this.#forgotten;
    if (this.#forgotten.size > MAX_FORGOTTEN && oldest !== undefined) this.#forgotten.delete(oldest);
  }

  #isToday({ record }: CountedRequest): boolean {
    const at = Date.parse(record.ts);
    return at >= this.#day.from && at < this.#day.until;
  }

  #turnDay(now: number): void {
    const { from, until } = this.#day;
    if (now >= from && now < until) return;
    this.#counted = Math.max(this.#counted, until);
    this.#day = this.#dayAt(now);
    this.#today = new RunningSums(this.#slots, MAX_TERMS_OF_DAY, this.#day.from >= this.#counted);
    // As in a report of today, a fetch belongs to a request of this day.
    this.#settleBackground();
  }

  #dayAt(now: number): { from: number; until: number } {
    const day = this.#calendar.dayOf(now);
    return { from: this.#calendar.startOf(day), until: this.#calendar.startOf(day, 1) };
  }
}

function keyOf(session: string): string {
  return session.slice(0, SESSION_CHARACTERS);
}

/** Sums that grow. */
class RunningSums {
  readonly #slots: PriceSlots;
  readonly #limit: number;
  readonly #isWhole: boolean;
  #requests = 0;
  #sandbox = 0;
  #input = 0;
  #cacheRead = 0;
  readonly #spending: Spending;

  constructor(slots: PriceSlots, limit: number, isWhole = true) {
    this.#slots = slots;
    this.#limit = limit;
    this.#isWhole = isWhole;
    this.#spending = new Spending(slots, limit);
  }

  /** Inverts {@link with}. */
  static of(
    { requests, sandbox, input, cacheRead, spending, isWhole }: SpendingSums,
    slots: PriceSlots,
    limit: number,
  ): RunningSums {
    const sums = new RunningSums(slots, limit, isWhole);
    sums.#requests = requests;
    sums.#sandbox = sandbox;
    sums.#input = input;
    sums.#cacheRead = cacheRead;
    sums.#spending.addEncoded(spending);
    return sums;
  }

  add({ record, source }: CountedRequest): void {
    if (record.upstream === SANDBOX_UPSTREAM) {
      this.#sandbox += 1;
      return;
    }
    this.#requests += 1;
    const { own, extra } = chargesOf(source);
    this.#spending.addRequest(source, own);
    for (const charge of extra) this.#spending.addCharge(charge);
    if (source.tokens !== null) this.#addInput(source.tokens);
    for (const set of source.extra) if (set.billable === true) this.#addInput(set);
  }

  /** Returns the sums, with requests that wait for their usage. */
  with(waiting: readonly CountedRequest[]): SpendingSums {
    if (waiting.length > 0) {
      const copy = RunningSums.of(this.with([]), this.#slots, this.#limit);
      for (const counted of waiting) copy.add(counted);
      return copy.with([]);
    }
    return {
      requests: this.#requests,
      sandbox: this.#sandbox,
      input: this.#input,
      cacheRead: this.#cacheRead,
      spending: this.#spending.encode(),
      isWhole: this.#isWhole,
    };
  }

  #addInput({
    input_uncached: uncached,
    cache_read: read,
    cache_write: write,
  }: Pick<ExtraTokens, "input_uncached" | "cache_read" | "cache_write">): void {
    this.#input += uncached + read + write;
    this.#cacheRead += read;
  }
}
