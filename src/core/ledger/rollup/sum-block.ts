import { TOKEN_CLASSES } from "../../price/charge.ts";
import { bucketsOf } from "../times/distribution.ts";
import type { RollupKind } from "../day.ts";
import type { Names } from "../groups.ts";
import type { SummableRecord } from "../record.ts";
import type {
  Rollup,
  RollupCharge,
  RollupGroup,
  RollupSegment,
  RollupTerms,
  RollupTimes,
} from "../rollup.ts";
import type { SeenStreams } from "../streams-without-usage.ts";
import { COUNTS } from "../tally.ts";
import { ROLLUP_AXES, type Axis } from "./axes.ts";

/** Numbers of one kind, one for each row. */
export type Column = ArrayLike<number>;

/**
 * The columns of groups, of their charges, and of streams that may have no usage. `group_names` and `stream_names` are numbers of rows
 * of names, and `start` that of the part of the day. `charges` are how many charges a group has, and `missed` how many follow for misses of the cache, of
 * which `missed_whole` is 1 where they are for all of its misses, 2 where not, and 0 without a miss. `reasoning` is one
 * more than it is, and 0 where it is not known.
 */
export const SUM_COLUMNS = [
  "group_names",
  "group_start",
  "charges",
  "missed",
  "missed_whole",
  "reasoning",
  "billed",
  ...COUNTS,
  "terms",
  "charge_requests",
  "tools",
  ...TOKEN_CLASSES.map(([name]) => `charged_${name}` as const),
  "stream_names",
  "stream_start",
  "stream_ts",
  "is_silent",
  "user_agent",
  "silent",
] as const;

/** The columns of times: how many buckets each group has, and the number and the count of each bucket. */
export const TIME_COLUMNS = [
  "ttft_buckets",
  "ttft_bucket",
  "ttft_count",
  "speed_buckets",
  "speed_bucket",
  "speed_count",
] as const;

/** Buckets are stored from here on. No number is in a smaller one. */
export const LEAST_BUCKET = -400;

/** Sums of the requests of days, or of some of them, in columns: reports add up a year of them. */
export interface SumBlock {
  kind: RollupKind;
  /** When the parts of the days start, in milliseconds since 1970. */
  starts: readonly number[];
  /** What names, bills, and the times and user agents of streams refer to by number. The first one is null. */
  texts: readonly (string | null)[];
  terms: readonly RollupTerms[];
  /** Calls of tools by their names; the first ones are none. */
  tools: readonly Readonly<Record<string, number>>[];
  /** The names of the groups: a column for each axis of the kind. */
  names: readonly Column[];
  sums: Readonly<Record<(typeof SUM_COLUMNS)[number], Column>>;
  background: readonly { start: number; record: SummableRecord }[];
  /** Lines that are not records. */
  skipped: Rollup["skipped"];
  /** Returns the times of the groups. Few reports need them. */
  times(): Readonly<Record<(typeof TIME_COLUMNS)[number], Column>>;
}

/** Returns the sums of days in columns. Together they take much less time than one by one. */
export function blockOf(kind: RollupKind, rollups: Iterable<Rollup>): SumBlock {
  const builder = new BlockBuilder(ROLLUP_AXES[kind]);
  for (const rollup of rollups) builder.add(rollup);
  const { starts, texts, terms, tools, names, sums, background, skipped, timesAt } = builder;
  return {
    kind,
    starts,
    texts: texts.all,
    terms,
    tools: tools.all,
    names,
    sums,
    background,
    skipped,
    times: () => timesOf(timesAt),
  };
}

/** Gives each text, or each list of names, a number. */
class Numbering<Value> {
  readonly all: Value[] = [];
  readonly #numbers = new Map<Value | string, number>();

  constructor(first?: Value) {
    if (first !== undefined) this.numberOf(first);
  }

  /** @param key what the value is known by */
  numberOf(value: Value, key: Value | string = value): number {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.all.push(value) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }
}

class BlockBuilder {
  readonly texts = new Numbering<string | null>(null);
  readonly tools = new Numbering<Readonly<Record<string, number>>>();
  readonly names: readonly number[][];
  readonly sums = columnsFor(SUM_COLUMNS);
  readonly starts: number[] = [];
  readonly terms: RollupTerms[] = [];
  readonly background: { start: number; record: SummableRecord }[] = [];
  skipped: Rollup["skipped"] = { count: 0, first: null };
  /** Where the times of each group are. */
  readonly timesAt: { times: RollupTimes; at: number }[] = [];
  readonly #axes: readonly Axis[];
  readonly #rows = new Numbering<Names>();
  // A year has a million numbers, for which looking up the columns takes longer than adding to them.
  readonly #counts = COUNTS.map((name) => this.sums[name]);
  readonly #charged = TOKEN_CLASSES.map(([name]) => this.sums[`charged_${name}`]);

  constructor(axes: readonly Axis[]) {
    this.#axes = axes;
    this.names = axes.map(() => []);
    this.tools.numberOf({}, "{}");
  }

  add({ segments, terms, times, skipped: { count, first } }: Rollup): void {
    for (const segment of segments) this.#addSegment(segment, times);
    this.terms.push(...terms);
    this.skipped = { count: this.skipped.count + count, first: this.skipped.first ?? first };
  }

  #addSegment({ from, groups, sandbox, background, streams }: RollupSegment, times: RollupTimes): void {
    const start = this.starts.push(from) - 1;
    for (const group of groups) this.#addGroup(start, group, times);
    for (const group of sandbox) this.#addGroup(start, group, times);
    for (const record of background) this.background.push({ start, record });
    for (const seen of streams) this.#addStreams(start, seen);
  }

  #addGroup(start: number, group: RollupGroup, times: RollupTimes): void {
    const { names, counts, reasoning, billed, charges, missed } = group;
    const { sums } = this;
    sums.group_names.push(this.#rowOf(names));
    sums.group_start.push(start);
    sums.charges.push(charges.length);
    sums.reasoning.push(reasoning === null ? 0 : reasoning + 1);
    sums.billed.push(billed === "0" ? 0 : this.texts.numberOf(billed));
    for (let at = 0; at < this.#counts.length; at += 1) this.#counts[at]?.push(counts[at] ?? 0);
    sums.missed.push(missed?.charges.length ?? 0);
    sums.missed_whole.push(missed === undefined ? 0 : missed.isWhole ? 1 : 2);
    for (const charge of charges) this.#addCharge(charge);
    for (const charge of missed?.charges ?? []) this.#addCharge(charge);
    this.timesAt.push({ times, at: group.times });
  }

  #addCharge([terms, requests, tokens, tools]: RollupCharge): void {
    const { sums } = this;
    // Those of the day are added after its charges.
    sums.terms.push(this.terms.length + terms);
    sums.charge_requests.push(requests);
    sums.tools.push(tools === undefined ? 0 : this.tools.numberOf(tools, JSON.stringify(tools)));
    for (let at = 0; at < this.#charged.length; at += 1) this.#charged[at]?.push(tokens[at] ?? 0);
  }

  #addStreams(
    start: number,
    { tool, upstream, model, names, ts, isSilent, userAgent, silent }: SeenStreams,
  ): void {
    const { sums } = this;
    const known: Partial<Record<Axis, string | null>> = { tool, upstream, requested: model };
    sums.stream_names.push(this.#rowOf(names ?? this.#axes.map((axis) => known[axis] ?? null)));
    sums.stream_start.push(start);
    sums.stream_ts.push(this.texts.numberOf(ts));
    sums.is_silent.push(isSilent ? 1 : 0);
    sums.user_agent.push(this.texts.numberOf(userAgent));
    sums.silent.push(silent);
  }

  #rowOf(names: Names): number {
    const row = this.#rows.numberOf(names, JSON.stringify(names));
    if (row === this.names[0]?.length)
      for (const [at, column] of this.names.entries()) column.push(this.texts.numberOf(names[at] ?? null));
    return row;
  }
}

function timesOf(timesAt: BlockBuilder["timesAt"]): ReturnType<SumBlock["times"]> {
  const times = columnsFor(TIME_COLUMNS);
  for (const {
    times: { texts },
    at,
  } of timesAt) {
    times.ttft_buckets.push(addBuckets(texts[at], times.ttft_bucket, times.ttft_count));
    times.speed_buckets.push(addBuckets(texts[at + 1], times.speed_bucket, times.speed_count));
  }
  return times;
}

/** Returns how many there are. */
function addBuckets(text = "", buckets: number[], counts: number[]): number {
  const before = buckets.length;
  for (const [bucket, count] of bucketsOf(text)) {
    buckets.push(bucket - LEAST_BUCKET);
    counts.push(count);
  }
  return buckets.length - before;
}

function columnsFor<Name extends string>(names: readonly Name[]): Record<Name, number[]> {
  return Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
}
