import { SANDBOX_UPSTREAM } from "../../config/names.ts";
import { isOwnUpstream, isPlanUpstream } from "../../plans/names.ts";
import type { Money } from "../../price/money.ts";
import type { SummableRecord, UsageRecord } from "../record.ts";
import { inputOf } from "./cache-before.ts";

/** Fewer requests say nothing about what is usual. */
export const LEAST_USUAL = 10;
/** More of them, the latest ones, would say nothing else. */
const MOST_USUAL = 500;

/** What is compared, each null where it is not known. */
export interface Measures {
  cost: Money | null;
  input: number | null;
  /** Of the input that was read from the cache, from 0 to 1; null without input. */
  cached: number | null;
  output: number | null;
  duration: number;
}

/** What requests like one usually are. */
export interface Usual {
  /** The project that all of them are of; null for those of any. */
  project: string | null;
  /** How many there are; fewer than {@link LEAST_USUAL} are not compared. */
  requests: number;
  /** The median of each measure over the requests for which it is known; null where none is compared. */
  medians: Measures | null;
}

/**
 * The requests that one is compared with: earlier ones of the same tool for the same model, with exact usage, that are paid in the same way. They
 * are given in the ledger's order.
 */
export class UsualRequests {
  readonly #record: UsageRecord;
  readonly #all: SummableRecord[] = [];
  readonly #inProject: SummableRecord[] = [];

  constructor(record: UsageRecord) {
    this.#record = record;
  }

  add(other: SummableRecord): void {
    if (!isAlike(other, this.#record)) return;
    keep(this.#all, other);
    if (other.project !== null && other.project === this.#record.project) keep(this.#inProject, other);
  }

  /** Returns what is usual: in the same project, if there are enough requests in it. `costOf` returns null for a cost that is not exact. */
  medians(costOf: (record: SummableRecord) => Money | null): Usual {
    const isOfProject = this.#inProject.length >= LEAST_USUAL;
    const records = (isOfProject ? this.#inProject : this.#all).slice(-MOST_USUAL);
    const project = isOfProject ? this.#record.project : null;
    const requests = records.length;
    if (requests < LEAST_USUAL) return { project, requests, medians: null };
    const all = records.map((record) => measuresOf(record, costOf(record)));
    const medianOf = (measure: Exclude<keyof Measures, "cost">) =>
      median(all.flatMap((one) => one[measure] ?? []).toSorted((a, b) => a - b));
    const costs = all.flatMap(({ cost }) => cost ?? []).toSorted((a, b) => (a < b ? -1 : Number(a > b)));
    return {
      project,
      requests,
      medians: {
        cost: costs[Math.floor((costs.length - 1) / 2)] ?? null,
        input: medianOf("input"),
        cached: medianOf("cached"),
        output: medianOf("output"),
        duration: medianOf("duration") ?? 0,
      },
    };
  }
}

/** Returns what of a request is compared. */
export function measuresOf(
  { tokens, duration_ms: duration }: Pick<SummableRecord, "tokens" | "duration_ms">,
  cost: Money | null,
): Measures {
  if (tokens === null) return { cost, input: null, cached: null, output: null, duration };
  const input = inputOf(tokens);
  const cached = input === 0 ? null : tokens.cache_read / input;
  return { cost, input, cached, output: tokens.output, duration };
}

function isAlike(one: SummableRecord, other: UsageRecord): boolean {
  return (
    one.tool === other.tool &&
    modelOf(one) === modelOf(other) &&
    one.tokens !== null &&
    one.usage === "final" &&
    payerOf(one.upstream) === payerOf(other.upstream)
  );
}

/** Returns the model that reports name a request by; null where it is not known. */
export function modelOf({
  model,
  model_requested: requested,
}: Pick<SummableRecord, "model" | "model_requested">) {
  return model ?? requested;
}

/** Whose money it is: an amount that a plan is worth is none that a key has cost. */
function payerOf(upstream: string): "nothing" | "plan" | "own" | "key" {
  if (upstream === SANDBOX_UPSTREAM) return "nothing";
  if (isOwnUpstream(upstream)) return "own";
  return isPlanUpstream(upstream) ? "plan" : "key";
}

function keep(records: SummableRecord[], record: SummableRecord): void {
  records.push(record);
  if (records.length >= 2 * MOST_USUAL) records.splice(0, MOST_USUAL);
}

/** Of numbers in their order: the middle one, the lower one of two. */
function median(sorted: readonly number[]): number | null {
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}
