import { formatMoney, parseMoney, type Money } from "../price/money.ts";
import {
  describeKind,
  REQUEST_MODEL,
  RESPONSE_MODEL,
  TOOL,
  UPSTREAM,
  type Kind,
} from "./exchange-attributes.ts";
import type { Attributes } from "./metric.ts";
import { RequestCounts, type EncodedRequests } from "./request-counts.ts";

/** The certainty of a request's cost, as in `Cost` (price/cost.ts). */
export const CERTAINTIES = ["exact", "lower_bound", "unpriced", "unknown"] as const;

/** How reliable token counts are: those of `UsageState` that a request can have which counts. */
export const USAGE_STATES = ["final", "partial", "absent"] as const;

/** Tokens by class, inclusive as in the conventions: `cache_read` and `cache_write` are in `input`, `reasoning` is in `output`. */
const TOKEN_COUNTS = ["input", "output", "cache_read", "cache_write", "reasoning"] as const;

/** Counts of a series. `maybe_unbilled` are tokens that are billed only in some cases; they are in no other count. */
const COUNTS = [...TOKEN_COUNTS, "maybe_unbilled", ...CERTAINTIES, ...USAGE_STATES] as const;

/** What tells series of usage apart. Models are null where they are not known. */
export interface SeriesNames extends Kind {
  tool: string;
  upstream: string;
  requested: string | null;
  served: string | null;
}

/** {@link UsageSeries} as data. */
export interface EncodedSeries {
  names: SeriesNames;
  requests: EncodedRequests;
  counts: Readonly<Record<string, number>>;
  cost: string;
}

/** What a tool has requested of a model at an upstream. */
export class UsageSeries {
  readonly names: SeriesNames;
  readonly attributes: Attributes;
  readonly requests: RequestCounts;
  readonly counts: Record<(typeof COUNTS)[number], number>;
  /** The cost of everything that has a price. */
  cost: Money;

  constructor(names: SeriesNames, encoded?: Omit<EncodedSeries, "names">) {
    this.names = names;
    this.attributes = { [TOOL]: names.tool, ...describeModels(names) };
    this.requests = new RequestCounts(encoded?.requests);
    const counts = COUNTS.map((name) => [name, encoded?.counts[name] ?? 0] as const);
    this.counts = Object.fromEntries(counts) as typeof this.counts;
    this.cost = parseMoney(encoded?.cost ?? "0") ?? 0n;
  }

  encode(): EncodedSeries {
    const { names, counts, cost } = this;
    return { names, requests: this.requests.encode(), counts: { ...counts }, cost: formatMoney(cost) };
  }
}

/** Returns the attributes of a series but for its tool. */
export function describeModels(names: Omit<SeriesNames, "tool">): Attributes {
  const { upstream, requested, served, api, operation } = names;
  return {
    [UPSTREAM]: upstream,
    ...describeKind({ api, operation }),
    ...(requested !== null && { [REQUEST_MODEL]: requested }),
    ...(served !== null && { [RESPONSE_MODEL]: served }),
  };
}
