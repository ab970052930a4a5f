// What the feeds send (docs/dashboard.md). Only what the page uses is listed.
import type { BudgetPeriod, Scope } from "../../../core/budget/kinds.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import type { RunningRequest } from "../../../core/ledger/running-request.ts";

/** Sums of requests, as in `tollkeeper usage --json`. */
export interface Sums {
  requests: number;
  failed: number;
  /** Those of `failed` that tollkeeper refused. */
  refused: number;
  input_uncached: number;
  cache_read: number;
  cache_write: number;
  output: number;
  partial: number;
  absent: number;
  cut: number;
  /** Those that failed after the service may have done work. */
  failed_midway: number;
  /** Those that a plan paid. */
  plan_requests: number;
  /** Those that the service of a plan charges as use beyond it. */
  extra_requests: number;
  /** Those that a tool paid with a key of its own. */
  own_requests: number;
  /** Decimal text; null where nothing of it is known. */
  cost_usd: string | null;
  cost_is_exact: boolean;
  /** The part of the cost of these. */
  extra_cost_usd: string;
  /** What plans paid, at the prices of a key; null where none paid anything. It is in no cost. */
  plan_worth_usd: string | null;
  plan_worth_is_exact: boolean | null;
  /** The same of what tools paid with keys of their own. */
  own_worth_usd: string | null;
  own_worth_is_exact: boolean | null;
  /** Negative where caches cost more than they saved; null where no cost is known. */
  cache_saved_usd: string | null;
  unpriced: readonly { model: string | null; what: string }[];
}

/** A row has its names by their groupings. */
export type NamedRow = Readonly<Record<string, unknown>>;

export type Row = Sums & NamedRow;

/** Of the streams of a row; null where there is none. */
interface Quantiles {
  median: number;
  p95: number;
}

/** A row as it was read. Rows that are added up have no times. */
export type TimedRow = Row & {
  /** Milliseconds to the first token. */
  ttft_ms: Quantiles | null;
  tokens_per_second: Quantiles | null;
};

export interface UsageReport {
  by: readonly string[];
  since: string;
  until: string | null;
  time_zone: string;
  prices: { as_of: string };
  rows: readonly TimedRow[];
  total: Sums;
  sandbox: { rows: readonly TimedRow[]; total: Sums };
  unreadable_lines: number;
}

/** What a request cost, as in `tollkeeper prices --record`. Prices and amounts are decimal text. */
export interface Cost {
  amount_usd: string | null;
  is_complete: boolean;
  is_lower_bound: boolean;
  from: string | null;
  lines: readonly CostLine[];
  missing: readonly { model: string | null; what: string }[];
}

/** Why a request missed the cache, and what that cost more than a hit. Amounts are decimal text. */
export interface Miss {
  by: "said" | "inferred" | null;
  tokens: number | null;
  /** The reason in words, such as `the tools changed`. */
  meaning: string;
  cost_usd: string;
  plan_worth_usd: string | null;
  is_exact: boolean;
  /** How to avoid it. */
  habit: string | null;
}

/** What the feed `cost` says of a request: what a plan paid has a worth beside its cost. */
export interface RecordCost {
  cost: Cost;
  worth: Cost | null;
  missed: Miss | null;
}

/** What is out of line on a day, as `tollkeeper digest --today` says it. */
export interface OutOfLine {
  /** When the day began. */
  since: string;
  /** False where too little is recorded before it to say so. */
  is_known: boolean;
  items: readonly { text: string; command: string; session: string | null }[];
}

export interface CostLine {
  class: string;
  model: string;
  source: string;
  count: number;
  usd: string;
  per: number;
  factors: readonly { what: string; value: string }[];
  amount_usd: string;
}

/** `missed` is null for a request that is not known to have missed the cache. */
export type PricedRecord = UsageRecord & { cost: Cost; missed: Miss | null };

/** A request that was refused before it had an upstream. */
export interface Refusal {
  ts: string;
  refused: string;
  status: number;
  tool: string | null;
  method: string;
  path: string;
}

/** What the feed of live requests sends, without costs, and the records of those that had ended before. */
export type FeedEntry =
  | (UsageRecord & { cost?: Cost; missed?: Miss | null })
  | Refusal
  | { ts: string; notice: string };

export interface Running {
  total: number;
  requests: readonly RunningRequest[];
}

export interface Status {
  version: string;
  state: string;
  started_at: string;
  open_exchanges: number;
  listening: readonly string[];
  upstreams: readonly {
    name: string;
    base_url: string;
    is_sandbox: boolean;
    cooldown_ms: number | null;
    last_exchange: { at: string; outcome: string; status: number | null } | null;
    last_failure: { at: string; reason: string } | null;
    failing: { kind: string; failed: number; of: number; summary: string } | null;
    worked_at: string | null;
  }[];
  keys: readonly {
    upstream: string;
    name: string;
    source: string;
    state: string;
    problem: string | null;
    /** Of a token; null for a key that does not expire. */
    expires_at: string | null;
    /** When and why it could last not be refreshed; null since it could. */
    refresh_failure: { at: string; problem: string } | null;
  }[];
  config: {
    path: string;
    loaded_at: string;
    problems: readonly { path: string; message: string }[];
    overruled: readonly { path: string; message: string }[];
  };
  ledger: {
    directory: string;
    written: number;
    waiting: number;
    lost: number;
    last_error: string | null;
    /** Of the disk; null where it cannot be said. */
    free_bytes: number | null;
  };
  budgets: readonly {
    id: string;
    scope: Scope;
    limit: { usd: number } | { tokens: number; class: string | null };
    window: { per: BudgetPeriod } | { rolling: number };
    /** The shares of the limit at which it warns. */
    warn: readonly number[];
    percent: number;
    spent: string;
    /** The part of `spent` that is assumed. */
    assumed: string;
    /** The models without a price, and how much of `spent` is assumed for each, the most first. */
    assumed_for: readonly { model: string; amount: string }[];
    amount: string;
    action: string;
    until: string;
    /** When a spent budget opens again; null if it never does. */
    opens_at: string | null;
    /** Whether an administrator has locked it, so that it cannot be lifted. */
    is_locked: boolean;
    spent_at: string | null;
  }[];
  limits: readonly {
    account: string;
    windows: readonly {
      window: string;
      used_percent: number | null;
      state: "seen" | "reset";
      resets_at: string | null;
      seen_at: string;
    }[];
  }[];
  /** Brakes that refuse requests now, because too little of a window is left. */
  holds: readonly {
    kind: "tool" | "group";
    name: string;
    keep: number;
    lift: string;
    account: string;
    window: string;
  }[];
  /** Tools that no budget refuses until then; null for all. */
  lifts: readonly { tool: string | null; until: string }[];
  pauses: readonly unknown[];
  captures: readonly { tool: string; state: "running" | "ended" }[];
  refused: { codes: Readonly<Record<string, number>> };
  last_error: { message: string; at: string } | null;
}

/** What `limits --json` says of who used each window. */
export interface Limits {
  accounts: readonly {
    account: string;
    windows: readonly { window: string; moved_by: MovedBy | null }[];
  }[];
}

/** By the tokens that passed since the window began, most first. `name` is null where records do not say. */
type MovedBy = { since: string } & Record<
  "tool" | "project" | "session",
  readonly { name: string | null; share_percent: number }[]
>;
