import { readStateFile, writeStateFile } from "../../adapters/state-file.ts";
import { BudgetBook } from "../../core/budget/book.ts";
import { describeBudget, type Budget } from "../../core/budget/budget.ts";
import { BudgetClock } from "../../core/budget/clock.ts";
import type { BudgetSettings } from "../../core/budget/gauges.ts";
import { describeRefusal } from "../../core/refusals/budgets.ts";
import type { BudgetRequest } from "../../core/budget/budget-request.ts";
import { describeLift, describeStanding, type BudgetsStatus } from "../../core/budget/budget-status.ts";
import { standingsOf } from "../../core/budget/standing.ts";
import { encodeState, isInForce, NO_STATE, parseState, type BudgetState } from "../../core/budget/state.ts";
import { describeWarning, type BudgetWarning } from "../../core/budget/warnings.ts";
import { type Config, priceSettingsOf } from "../../core/config/config.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import type { Refusal } from "../../core/refusals/refusal.ts";
import { dayAt } from "../../core/ledger/day.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import type { RequestHold, Clock, ConfigStatus, Log, MovableLedger } from "../../ports.ts";
import { announce } from "../notices/announce.ts";
import { LedgerFollower, type Place } from "../ledger-follower.ts";
import { readInThread } from "../ledger-reader.ts";
import type { RecordFeed } from "../record-feed.ts";
import { budgetSettings, type BudgetConfig } from "./settings.ts";

/** What budgets are kept with. */
export interface BudgetParts {
  feed: RecordFeed;
  ledger: Pick<MovableLedger, "health" | "mark" | "hasOthers">;
  /** The file in which lifts, resets and warnings survive a restart. */
  statePath: string;
  /** Returns the managed configuration file in force and what it locks; null without one. */
  managed: () => ConfigStatus["managed"];
  clock: Clock;
  log: Log;
}

/** How often windows are seen to, and the ledger: what others wrote is counted, and one that could not be read is tried again. */
const TICK_MS = 60_000;

/** Keeps the budgets of a running daemon: counts each record, and what the ledger says was spent before. */
export class BudgetKeeper {
  readonly #parts: BudgetParts;
  readonly #book: BudgetBook;
  readonly #clock: BudgetClock;
  readonly #follower: LedgerFollower;
  #settings: BudgetSettings;
  #config: BudgetConfig;
  /** The state that is in the file. */
  #saved: BudgetState;
  /** Why the ledger could not be counted; null if it could. Nothing is admitted before it was counted once. */
  #fault: string | null = "it has not been counted yet";
  #counting: Promise<void> | null = null;
  #mustCount = true;

  /** Resolves when the ledger has been counted, or could not be. */
  static async open(parts: BudgetParts, config: Config): Promise<BudgetKeeper> {
    const relevant = relevantPart(config);
    const keeper = new BudgetKeeper(parts, relevant, await budgetSettings(relevant, parts.managed));
    await keeper.#count();
    return keeper;
  }

  private constructor(parts: BudgetParts, config: BudgetConfig, settings: BudgetSettings) {
    const { clock } = parts;
    this.#parts = parts;
    this.#config = config;
    this.#settings = settings;
    this.#clock = new BudgetClock(clock.now(), clock.monotonic());
    this.#saved = this.#readState();
    this.#book = new BudgetBook(settings, this.#saved, this.#now());
    this.#follower = new LedgerFollower({
      ...parts,
      onRecord: (record) => this.#announce(this.#book.settle(null, record, this.#now())),
    });
    setInterval(() => void this.look(), TICK_MS).unref();
  }

  /** Applies another configuration. What new budgets and prices need of the ledger is counted in the background. */
  async use(config: Config): Promise<void> {
    const relevant = relevantPart(config);
    if (JSON.stringify(relevant) === JSON.stringify(this.#config)) return;
    this.#settings = await budgetSettings(relevant, this.#parts.managed);
    this.#mustCount ||= countsOtherwise(relevant, this.#config);
    this.#config = relevant;
    this.#book.reload(this.#settings, this.#now());
    this.#announce(this.#book.warnings(this.#now()));
    void this.#countIfNeeded();
  }

  judge(request: BudgetRequest): Refusal | null {
    if (this.#fault !== null) return unknownSpending(this.#fault);
    const refusedBy = this.#book.judge(request, this.#now());
    if (refusedBy === null) return null;
    const words = describeRefusal(refusedBy, this.#parts.clock.now(), this.#settings);
    return { code: "budget_spent", ...words };
  }

  hold(request: BudgetRequest): RequestHold {
    const { reservation, percent } = this.#book.reserve(request, this.#now());
    const release = (record: UsageRecord | null) => {
      if (reservation !== null) this.#book.release(reservation, record);
    };
    return { percent, reserved: reservation?.reserved ?? null, release };
  }

  /** Says where each budget stands, in the order of the configuration. */
  describe(): BudgetsStatus {
    const now = this.#now();
    return {
      budgets: standingsOf(this.#book, now).map((standing) =>
        describeStanding(standing, this.#settings.isLocked(standing.budget)),
      ),
      lifts: this.#book.state.lifts.filter((lift) => isInForce(lift, now)).map(describeLift),
    };
  }

  /** Returns how much is spent, in percent, of the budget of which the most is; null without one. Without a tool, of those for all. */
  percentFor(tool: string | null): number | null {
    return this.#book.percentFor({ tool: tool ?? "", project: null, key: "" }, this.#now());
  }

  /**
   * Lets no budget refuse a tool for so many milliseconds, except locked ones; null for all tools. 0 ends such a lift.
   * @throws Failure when it would lift no budget, because all are locked
   */
  lift(tool: string | null, durationMs: number): void {
    const { budgets, groupOf, isLocked } = this.#settings;
    const concerned = budgets.filter(({ scope, action }) => {
      if (action === "warn") return false;
      if (tool === null || scope.kind === "all" || scope.kind === "project" || scope.kind === "key")
        return true;
      return scope.name === (scope.kind === "tool" ? tool : groupOf(tool));
    });
    const [first] = concerned;
    if (durationMs > 0 && first !== undefined && concerned.every(isLocked))
      throw this.#explainLock(first, "lifted");
    const now = this.#now();
    this.#book.lift(tool, now, now + durationMs);
    this.#save();
  }

  /** Lets the window of a budget begin now. Returns false when there is no such budget. @throws Failure for one that is locked */
  reset(id: string): boolean {
    const budget = this.#settings.budgets.find((one) => one.id === id);
    if (budget !== undefined && this.#settings.isLocked(budget)) throw this.#explainLock(budget, "reset");
    const isKnown = this.#book.reset(id, this.#now());
    this.#save();
    return isKnown;
  }

  #explainLock(budget: Budget, deed: string): Failure {
    const path = this.#parts.managed()?.path ?? "the managed file";
    return new Failure(
      `the budget of ${describeBudget(budget)} cannot be ${deed}: ${path} locks it`,
      "to see when it opens again, type: tollkeeper budget",
    );
  }

  #now(): number {
    const { clock } = this.#parts;
    return this.#clock.read(clock.now(), clock.monotonic());
  }

  /** Sees to windows that have opened, and counts what others have written to the ledger. Never rejects. */
  async look(): Promise<void> {
    this.#announce(this.#book.warnings(this.#now()));
    await this.#countIfNeeded();
  }

  async #countIfNeeded(): Promise<void> {
    const now = this.#now();
    const isShort = this.#mustCount || !this.#book.isWhole(now);
    if (isShort || this.#follower.hasMissed(dayAt(this.#book.neededSince(now)))) await this.#count();
  }

  /** Never rejects. */
  #count(): Promise<void> {
    this.#counting ??= this.#countUntilDone().finally(() => (this.#counting = null));
    return this.#counting;
  }

  async #countUntilDone(): Promise<void> {
    this.#mustCount = false;
    try {
      // Until nothing has changed meanwhile.
      while (!(await this.#countOnce()));
      this.#fault = null;
      this.#announce(this.#book.warnings(this.#now()));
    } catch (error) {
      this.#mustCount = true;
      const reason = messageOf(error);
      this.#parts.log.error(
        { reason },
        "the ledger cannot be counted for budgets; trying again every minute",
      );
      this.#fault &&= reason;
    }
  }

  /** Returns false when the book has changed meanwhile, so that the count is of no use. */
  async #countOnce(): Promise<boolean> {
    const before = this.#book.version;
    const question = { config: this.#config, state: this.#book.state, now: this.#now() };
    const read = (place: Place) => readInThread("budgets", question, place);
    const { sums, since } = await this.#follower.sumUp(read);
    if (this.#book.version !== before) return false;
    this.#book.recount(sums, since);
    return true;
  }

  #announce(warnings: readonly BudgetWarning[]): void {
    if (warnings.length === 0) return;
    for (const warning of warnings) announce(this.#parts, describeWarning(warning), warning.budget.notify);
    this.#save();
  }

  #readState(): BudgetState {
    const { statePath, log } = this.#parts;
    try {
      const text = readStateFile(statePath);
      const state = text === null ? NO_STATE : parseState(text);
      if (typeof state !== "string") return state;
      log.warn({ file: statePath, reason: state }, FORGOTTEN);
    } catch (error) {
      log.warn({ file: statePath, reason: messageOf(error) }, FORGOTTEN);
    }
    return NO_STATE;
  }

  #save(): void {
    const { statePath, log } = this.#parts;
    const { state } = this.#book;
    if (state === this.#saved) return;
    try {
      writeStateFile(statePath, encodeState(state, this.#now()));
      this.#saved = state;
    } catch (error) {
      log.warn({ file: statePath, reason: messageOf(error) }, "lifts, resets and warnings cannot be kept");
    }
  }
}

const FORGOTTEN = "lifts and resets of budgets, and the warnings given, cannot be read and are forgotten";

function unknownSpending(fault: string): Refusal {
  return {
    code: "budget_unknown",
    problem: "the ledger cannot be counted",
    reason: `what is left of the budget is not known: ${fault}`,
    advice: "tollkeeper counts it again every minute",
    command: "tollkeeper ledger verify",
  };
}

function relevantPart(config: Config): BudgetConfig {
  const { tools, otherTools, groups, projects, keys, budgets } = config;
  return { tools, otherTools, groups, projects, keys, budgets, ...priceSettingsOf(config) };
}

/** True when past requests count otherwise: prices differ, or which tools are in a group. */
function countsOtherwise(one: BudgetConfig, other: BudgetConfig): boolean {
  return JSON.stringify(countedPart(one)) !== JSON.stringify(countedPart(other));
}

function countedPart({ tools, otherTools, prices, priceTable, upstreams }: BudgetConfig): unknown {
  const groups = Object.entries(tools).map(([name, { group }]) => [name, group]);
  return [groups, otherTools, prices, priceTable, upstreams];
}
