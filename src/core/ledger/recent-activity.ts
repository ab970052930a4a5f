import { SANDBOX_UPSTREAM } from "../config/names.ts";
import { costOf } from "../price/cost.ts";
import type { Money } from "../price/money.ts";
import type { PriceBook } from "../price/price-book.ts";
import type { UsageRecord } from "./record.ts";
import type { RunningRequest } from "./running-request.ts";
import { classify } from "./spend.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** The parts of the hour in {@link Activity.history}. */
const PARTS = 12;

/** What a tool, or all of them, has done lately. Rates are those of the last minute. */
export interface Activity {
  running: number;
  /** Requests that ended in the last hour. */
  requests: number;
  requestsPerMinute: number;
  /** Of requests that ended. */
  inputPerMinute: number;
  outputPerSecond: number;
  /** In the last hour. */
  spent: Money;
  /** False where a part of it is not known. */
  isSpentExact: boolean;
  /** True where a part of it is not known because a model has no price. */
  isUnpriced: boolean;
  input: number;
  cacheRead: number;
  output: number;
  /** Failed or cut off, in the last hour. */
  failed: number;
  /** Refused by tollkeeper, in the last hour. */
  refused: number;
  /** Requests that ended in each five minutes of the last hour, the oldest first. */
  history: number[];
}

/** A request that has ended, with what is needed of it. */
interface Ended {
  id: string;
  tool: string;
  endedAt: number;
  spent: Money;
  isExact: boolean;
  isUnpriced: boolean;
  input: number;
  cacheRead: number;
  output: number;
  isFailed: boolean;
  isRefused: boolean;
}

/** The requests that ended in the last hour. */
export class RecentActivity {
  readonly #prices: PriceBook;
  readonly #ids = new Set<string>();
  #ended: Ended[] = [];

  constructor(prices: PriceBook) {
    this.#prices = prices;
  }

  /** Adds a record. A second time it does nothing. */
  add(record: UsageRecord): void {
    const { id, tool, ts, duration_ms: duration, tokens, outcome } = record;
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    const isMadeUp = record.upstream === SANDBOX_UPSTREAM;
    const cost = isMadeUp || classify(record) !== "request" ? null : costOf(record, this.#prices);
    this.#ended.push({
      id,
      tool,
      endedAt: Date.parse(ts) + duration,
      spent: cost === null ? 0n : amountOf(cost),
      isExact: cost === null || (cost.kind === "priced" && !cost.isLowerBound),
      isUnpriced: cost?.kind === "unpriced",
      input: tokens?.input_total ?? 0,
      cacheRead: tokens?.cache_read ?? 0,
      output: tokens?.output ?? 0,
      isFailed: FAILED.has(outcome),
      isRefused: outcome === "rejected",
    });
  }

  /** Returns what each tool has done by `now`, and all of them together. */
  summarise(
    now: number,
    running: readonly RunningRequest[],
  ): { tools: Map<string, Activity>; all: Activity } {
    this.#forget(now - HOUR_MS);
    const tools = new Map<string, Activity>();
    const all = none();
    const of = (tool: string) => {
      const activity = tools.get(tool) ?? none();
      tools.set(tool, activity);
      return [activity, all];
    };
    for (const { tool } of running) for (const activity of of(tool)) activity.running += 1;
    for (const ended of this.#ended)
      for (const activity of of(ended.tool)) {
        count(activity, ended, ended.endedAt > now - MINUTE_MS);
        const part = Math.min(PARTS - 1, Math.floor(((ended.endedAt - now + HOUR_MS) * PARTS) / HOUR_MS));
        activity.history[part] = (activity.history[part] ?? 0) + 1;
      }
    return { tools, all };
  }

  #forget(before: number): void {
    for (const { id, endedAt } of this.#ended) if (endedAt <= before) this.#ids.delete(id);
    this.#ended = this.#ended.filter(({ endedAt }) => endedAt > before);
  }
}

const FAILED = new Set(["error", "failed", "cut"]);

function amountOf(cost: ReturnType<typeof costOf>): Money {
  if (cost.kind === "unknown") return 0n;
  return cost.kind === "unpriced" ? cost.atLeast : cost.amount;
}

function none(): Activity {
  return {
    running: 0,
    requests: 0,
    requestsPerMinute: 0,
    inputPerMinute: 0,
    outputPerSecond: 0,
    spent: 0n,
    isSpentExact: true,
    isUnpriced: false,
    input: 0,
    cacheRead: 0,
    output: 0,
    failed: 0,
    refused: 0,
    history: Array.from({ length: PARTS }, () => 0),
  };
}

function count(activity: Activity, ended: Ended, isInMinute: boolean): void {
  const { spent, isExact, isUnpriced, input, cacheRead, output, isFailed, isRefused } = ended;
  activity.requests += 1;
  activity.spent += spent;
  activity.isSpentExact &&= isExact;
  activity.isUnpriced ||= isUnpriced;
  activity.input += input;
  activity.cacheRead += cacheRead;
  activity.output += output;
  if (isFailed) activity.failed += 1;
  if (isRefused) activity.refused += 1;
  if (!isInMinute) return;
  activity.requestsPerMinute += 1;
  activity.inputPerMinute += input;
  activity.outputPerSecond += output / 60;
}
