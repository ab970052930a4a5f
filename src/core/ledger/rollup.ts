import { TOKEN_CLASSES, type Charge, type PriceTerms } from "../price/charge.ts";
import type { PriceSlots } from "../price/spending.ts";
import { daySlots } from "../price/time-slots.ts";
import { UTC_CALENDAR } from "./calendar.ts";
import { DaySums, type EncodedDay, type SumOptions } from "./day-sums.ts";
import { nameOf } from "./grouping.ts";
import type { Names } from "./groups.ts";
import { ROLLUP_AXES, type Axis } from "./rollup/axes.ts";
import { spanOf } from "./rollup/cuts.ts";
import type { RollupKind } from "./day.ts";
import type { SummableRecord } from "./record.ts";
import type { SeenStreams } from "./streams-without-usage.ts";

// rollup/cuts.ts, rollup/rollup-sums.ts and rollup/rollup-text.ts have entry points of their own: who sums does not build.

/** Tokens and calls that are priced alike: the number of their terms, requests, tokens in the order of the classes, and calls. */
export type RollupCharge = readonly [
  terms: number,
  requests: number,
  tokens: readonly number[],
  tools?: Charge["tools"],
];

/** What decides the price of tokens and calls, in a form that is short. The third is the time. */
export type RollupTerms = readonly [
  upstream: string,
  model: string | null,
  ts: string,
  tier: string | null,
  speed: string | null,
  geo: string | null,
  sizes: readonly [least: number, most: number],
  isSum: boolean,
  isOwn: boolean,
  certainty: PriceTerms["certainty"],
  media: readonly string[],
];

/** The sums of requests with the same names. */
export interface RollupGroup {
  names: Names;
  /** In the order of `EncodedTally`. */
  counts: readonly number[];
  reasoning: number | null;
  /** Where its times are in {@link Rollup.times}: those to the first token, followed by the speeds. */
  times: number;
  /** What services said they charged: dollars, as text. */
  billed: string;
  charges: readonly RollupCharge[];
  /** Of details: what misses of the cache paid for. Left out without one. */
  missed?: { charges: readonly RollupCharge[]; isWhole: boolean };
}

/** The sums of a part of a day. */
export interface RollupSegment {
  /** When it starts, in milliseconds since 1970. It lasts until the next one does. */
  from: number;
  groups: readonly RollupGroup[];
  sandbox: readonly RollupGroup[];
  background: readonly SummableRecord[];
  streams: readonly SeenStreams[];
}

/** The times of all groups, as `Distribution` encodes them. Few reports need them, so they are parsed when they are asked for. */
export interface RollupTimes {
  readonly texts: readonly string[];
}

/** The sums of a closed day, from which reports are made without its records. */
export interface Rollup {
  kind: RollupKind;
  day: string;
  /** The sizes that prompts are told apart by. */
  limits: readonly number[];
  terms: readonly RollupTerms[];
  /** The first one starts with the day. */
  segments: readonly RollupSegment[];
  times: RollupTimes;
  /** Lines of the day that are not records: how many, and the file and number of the first. */
  skipped: { count: number; first: { file: string; line: number } | null };
}

/** Where the time is in terms. */
const TIME = 2;

/** Sums the records of a day for a {@link Rollup}, or for several that together are the day's. */
export class RollupBuilder {
  readonly #kind: RollupKind;
  readonly #day: string;
  readonly #limits: readonly number[];
  readonly #slots: PriceSlots;
  readonly #segments: { from: number; start: string; sums: DaySums }[];
  #skipped: Rollup["skipped"] = { count: 0, first: null };

  /**
   * @param cuts where the day is divided, so that reports may begin or end there; in milliseconds since 1970
   * @param limits the sizes that prompts are told apart by: `PriceBook.allLimits`
   * @param slots tell times with different prices apart; those of one day if left out
   */
  constructor(
    kind: RollupKind,
    day: string,
    cuts: readonly number[],
    limits: readonly number[],
    slots: PriceSlots = daySlots(limits),
  ) {
    this.#kind = kind;
    this.#day = day;
    this.#limits = limits;
    this.#slots = slots;
    const axes = { namesOf: namesBy(ROLLUP_AXES[kind]), model: ROLLUP_AXES[kind].indexOf("model") };
    const options = { axes, slots: this.#slots, filter: {}, areStreamsNamed: kind === "details" };
    const starts = [spanOf(day).from, ...new Set(cuts)].toSorted((one, other) => one - other);
    this.#segments = starts.map((from) => ({
      from,
      start: new Date(from).toISOString(),
      sums: new DaySums(options),
    }));
  }

  /** How many groups the sums have. */
  get size(): number {
    return this.#segments.reduce((size, { sums }) => size + sums.groups.size + sums.sandbox.size, 0);
  }

  /** Adds the next record of the day. */
  add(record: SummableRecord): void {
    const { ts } = record;
    // A time that is not of this day, which only a damaged file has, counts with the first or last part.
    const segment = this.#segments.findLast(({ start }) => start <= ts) ?? this.#segments[0];
    segment?.sums.add(record);
  }

  /** Adds sums to the first part. */
  addSums(sums: EncodedDay): void {
    this.#segments[0]?.sums.addEncoded(sums);
  }

  /** Counts a line that is not a record. */
  skip(first: { file: string; line: number }): void {
    this.addSkipped({ count: 1, first });
  }

  /** Counts lines that are not records. */
  addSkipped({ count, first }: Rollup["skipped"]): void {
    this.#skipped = { count: this.#skipped.count + count, first: this.#skipped.first ?? first };
  }

  /** Returns the sums of what was added since the last time. */
  take(): Rollup {
    const tables = new Tables(this.#kind, this.#slots);
    const segments = this.#segments.map(({ from, sums }): RollupSegment => {
      const { groups, sandbox, background, streams } = sums.take();
      return { from, groups: tables.encode(groups), sandbox: tables.encode(sandbox), background, streams };
    });
    const { terms, texts } = tables;
    const skipped = this.#skipped;
    this.#skipped = { count: 0, first: null };
    return {
      kind: this.#kind,
      day: this.#day,
      limits: this.#limits,
      terms,
      segments,
      times: { texts },
      skipped,
    };
  }
}

function namesBy(axes: readonly Axis[]): SumOptions["axes"]["namesOf"] {
  // Which of the model's names is meant is the only difference.
  const groupings = axes.map((axis) => (axis === "requested" ? "model" : axis));
  return (record, source) => groupings.map((grouping) => nameOf(grouping, record, source, UTC_CALENDAR));
}

/** What groups refer to by number. Many of them have the same terms. */
class Tables {
  readonly terms: RollupTerms[] = [];
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #kind: RollupKind;
  readonly #slots: Pick<PriceSlots, "slotOf">;

  /** @param slots tell times apart: terms that differ in nothing else are one */
  constructor(kind: RollupKind, slots: Pick<PriceSlots, "slotOf">) {
    this.#kind = kind;
    this.#slots = slots;
  }

  encode(groups: EncodedDay["groups"]): RollupGroup[] {
    return groups.map(({ names, counts, reasoning, ttft, speed, spending, missed }) => ({
      names,
      counts,
      reasoning,
      times: this.texts.push(ttft, speed) - 2,
      billed: spending.billed,
      charges: this.#encodeCharges(spending.charges),
      ...(missed !== null &&
        this.#kind === "details" && { missed: { ...missed, charges: this.#encodeCharges(missed.charges) } }),
    }));
  }

  #encodeCharges(charges: readonly Charge[]): RollupCharge[] {
    return charges.map((charge) => this.#encodeCharge(charge));
  }

  #encodeCharge({ terms, requests, tokens, tools }: Charge): RollupCharge {
    const counts = TOKEN_CLASSES.map(([name]) => tokens[name]);
    const number = this.#numberOf(terms);
    return Object.keys(tools).length === 0 ? [number, requests, counts] : [number, requests, counts, tools];
  }

  #numberOf({
    upstream,
    model,
    ts,
    tier,
    speed,
    geo,
    least,
    most,
    isSum,
    isOwn,
    certainty,
    media,
  }: PriceTerms): number {
    const sizes = [least, most] as const;
    const terms: RollupTerms = [upstream, model, ts, tier, speed, geo, sizes, isSum, isOwn, certainty, media];
    const slot = model === null ? 0 : this.#slots.slotOf(upstream, model, ts);
    const key = JSON.stringify([slot, ...terms.toSpliced(TIME, 1)]);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.terms.length;
      this.terms.push(terms);
      this.#numbers.set(key, number);
    }
    return number;
  }
}
