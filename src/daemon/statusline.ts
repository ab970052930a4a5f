import { setTimeout as delay } from "node:timers/promises";
import { SANDBOX_UPSTREAM } from "../core/config/names.ts";
import { localCalendar } from "../core/ledger/calendar.ts";
import { dayAt } from "../core/ledger/day.ts";
import { fullestWindow, summariseLimits, summariseWindow } from "../core/limits/describe-limits.ts";
import { RecentSpending, type SpendingSums } from "../core/ledger/recent-spending.ts";
import { loadPriceBook } from "../adapters/price-table.ts";
import { pricedPart, priceSettingsOf, type PriceSettings } from "../core/config/config.ts";
import type { Clock, ConfigSource, Log, MovableLedger } from "../ports.ts";
import type { DaemonBudgets } from "./budgets.ts";
import type { DaemonLimits } from "./limits.ts";
import type { DaemonPauses } from "./pauses.ts";
import { LedgerFollower, type Place } from "./ledger-follower.ts";
import { readInThread } from "./ledger-reader.ts";
import type { RecordFeed } from "./record-feed.ts";

/** What the daemon knows for a status line. The command that draws it knows the prices. */
export interface StatuslineFacts {
  today: SpendingSums;
  /** null without a session, and for one that is not among the recent ones. */
  session: SpendingSums | null;
  /** False while the ledger is being read, or when it cannot be: the sums are lower bounds then. */
  isWhole: boolean;
  /** True while the ledger is being read: to ask again soon is worth it. */
  isReading: boolean;
  /** How much is spent, in percent, of the budget of which the most is; null without one for the tool that asks. */
  budgetPercent: number | null;
  /** How much is used of the services' own limits, by the last responses: the fullest window, as in `5h 62%`. Empty where none is known. */
  limit: string;
  /** The same of each account. */
  limits: string;
  /** Names of the upstreams that fail, separated by commas; empty where none does. */
  failing: string;
  /** What keeps the tool that asks paused, or without a session all that is paused; empty where nothing is. */
  paused: string;
  /** Of the upstreams in the sums. */
  prices: PriceSettings;
}

interface StatuslineParts {
  feed: RecordFeed;
  ledger: Pick<MovableLedger, "health" | "mark" | "hasOthers">;
  budgets: Pick<DaemonBudgets, "percentFor">;
  pauses: Pick<DaemonPauses, "nameFor">;
  limits: Pick<DaemonLimits, "describe">;
  /** Returns the upstreams that fail. */
  failing: () => readonly string[];
  source: Pick<ConfigSource, "current">;
  clock: Clock;
  log: Log;
}

/** Sessions may be older than a day. The two days before today in UTC have yesterday of every time zone. */
const DAYS_BEFORE = 2;

/** The one tool that passes the id of a session to its status line. */
const SESSIONS_OF = "claude-code";

/**
 * How long a question waits while the ledger is being read. The command asks again until it has been read, for a second at most.
 */
const WAIT_MS = { first: 150, later: 20 };

/** How often a question looks at most whether anybody else has written to the ledger, which takes some 0.3 ms. */
const LOOK_MS = 1_000;

/**
 * Answers `statusline`. Has today's and yesterday's records read when it is asked for the first time, and follows the ledger from
 * then on. A daemon that is never asked does and keeps nothing.
 */
export class Statusline {
  readonly #parts: StatuslineParts;
  readonly #calendar = localCalendar();
  readonly #follower: LedgerFollower;
  #recent: RecentSpending;
  #reading: Promise<void> | null = null;
  #isReading = false;
  #isWhole = false;
  #lookedAt = -Infinity;

  constructor(parts: StatuslineParts) {
    const { clock } = parts;
    this.#parts = parts;
    this.#recent = new RecentSpending(this.#calendar, clock.now(), []);
    this.#follower = new LedgerFollower({
      ...parts,
      onRecord: (record) => this.#recent.add(record, clock.now()),
    });
  }

  /** `session`: the id of the tool's session; null for none. */
  async answer(session: string | null): Promise<StatuslineFacts> {
    const { clock } = this.#parts;
    const waitMs = this.#reading === null ? WAIT_MS.first : WAIT_MS.later;
    if (this.#reading === null || (!this.#isReading && this.#hasMissed())) this.#reading = this.#read();
    if (this.#isReading) await Promise.race([this.#reading, delay(waitMs, null, { ref: false })]);
    const today = this.#recent.today(clock.now());
    const ofSession = session === null ? null : this.#recent.session(session);
    const prices = this.#pricesFor(ofSession === null ? [today] : [today, ofSession]);
    const { budgets, pauses, source } = this.#parts;
    const tool = session === null ? null : SESSIONS_OF;
    const budgetPercent = budgets.percentFor(tool);
    const paused = pauses.nameFor(tool, source.current());
    const failing = this.#parts.failing().join(", ");
    const accounts = this.#parts.limits.describe();
    const fullest = fullestWindow(accounts);
    return {
      today,
      session: ofSession,
      isWhole: this.#isWhole,
      isReading: this.#isReading,
      budgetPercent,
      limit: fullest === null ? "" : summariseWindow(fullest),
      limits: summariseLimits(accounts),
      failing,
      paused,
      prices,
    };
  }

  /** True when another process has written what is not in the sums. */
  #hasMissed(): boolean {
    const { clock } = this.#parts;
    const now = clock.monotonic();
    if (!this.#isWhole || now - this.#lookedAt < LOOK_MS) return false;
    this.#lookedAt = now;
    return this.#follower.hasMissed(firstDay(clock.now()));
  }

  async #read(): Promise<void> {
    const { clock, log, source } = this.#parts;
    this.#isReading = true;
    try {
      const limits = (await loadPriceBook(priceSettingsOf(source.current()))).allLimits();
      const now = clock.now();
      const question = { from: firstDay(now), now, limits };
      const read = (place: Place) => readInThread("statusline", question, place);
      const { sums, since } = await this.#follower.sumUp(read);
      this.#recent = RecentSpending.of(sums, this.#calendar, now, limits);
      for (const record of since) this.#recent.add(record, clock.now());
      this.#isWhole = true;
    } catch (error) {
      log.debug({ err: error }, "the ledger cannot be read for the status line");
    } finally {
      this.#isReading = false;
    }
  }

  #pricesFor(sums: readonly SpendingSums[]): PriceSettings {
    const { prices, priceTable, upstreams } = this.#parts.source.current();
    const charges = sums.flatMap(({ spending }) => spending.charges);
    const names = new Set(charges.map(({ terms }) => terms.upstream));
    const used = [...names]
      .filter((name) => name !== SANDBOX_UPSTREAM)
      .flatMap((name) => upstreams[name] ?? []);
    const priced = used.map((one) => [one.name, pricedPart(one)] as const);
    return { prices, priceTable, upstreams: Object.fromEntries(priced) };
  }
}

function firstDay(now: number): string {
  return dayAt(now - DAYS_BEFORE * 86_400_000);
}
