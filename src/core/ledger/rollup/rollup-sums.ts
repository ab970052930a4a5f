import { TOKEN_CLASSES, type Charge, type PriceTerms, type TokenClass } from "../../price/charge.ts";
import { formatMoney, parseMoney, type Money } from "../../price/money.ts";
import type { PriceSlots } from "../../price/spending.ts";
import { accountOf, isPlanUpstream } from "../../plans/names.ts";
import type { Calendar } from "../calendar.ts";
import type { RollupKind } from "../day.ts";
import type { DaySums } from "../day-sums.ts";
import { Distribution } from "../distribution.ts";
import { isTime, timeName, type Grouping } from "../grouping.ts";
import type { Groups, Names } from "../groups.ts";
import { isAdmitted, type RecordFilter } from "../record-filter.ts";
import type { Rollup, RollupGroup, RollupSegment, RollupTerms, RollupTimes } from "../rollup.ts";
import { ROLLUP_AXES } from "./axes.ts";
import { requestsOf, type EncodedTally } from "../tally.ts";

/** What rollups are summed for. */
interface RollupQuestion {
  by: readonly Grouping[];
  calendar: Calendar;
  prices: PriceSlots;
  filter: RecordFilter;
}

/** The part of a day's rollup that is in a period: the segments that start from `since` on and before `until`. */
export interface RollupPart {
  rollup: Rollup;
  since: number;
  until: number;
}

/** Where the names of groupings stand in those of a group. */
const PLACES: Readonly<Record<string, number>> = Object.fromEntries(
  ROLLUP_AXES.details.map((axis, place) => [axis, place]),
);
const REQUESTED = ROLLUP_AXES.details.indexOf("requested");
const UPSTREAM = ROLLUP_AXES.details.indexOf("upstream");

/** True for what sums of a kind know of each request, or can be told from the time of a segment. */
export function isInRollups(grouping: Grouping, kind: RollupKind = "rollup"): boolean {
  if (isTime(grouping)) return grouping !== "hour";
  if (grouping === "account") return true;
  return (ROLLUP_AXES[kind] as readonly string[]).includes(grouping);
}

/** Returns the segments of a day that are in a period. */
export function segmentsOf({ rollup, since, until }: RollupPart): readonly RollupSegment[] {
  return rollup.segments.filter(({ from }) => from >= since && from < until);
}

/** Sums of requests that grow. Charges are by their terms. */
interface Sum {
  names: Names;
  counts: number[];
  reasoning: number | null;
  planRequests: number;
  ttft: Distribution;
  speed: Distribution;
  billed: Money;
  charges: Map<number, ChargeSum>;
}

/** Of a rollup, what its groups refer to: their times, and for each of its terms the number that they have in the sums. */
interface Source {
  times: RollupTimes;
  numbers: readonly number[];
}

interface ChargeSum {
  requests: number;
  tokens: number[];
  tools: Record<string, number> | null;
}

/**
 * Adds up the rollups of many days for one question. A year has a hundred thousand numbers, so they are added as they stand, and
 * become tallies at the end.
 */
export class RollupSums {
  readonly #question: RollupQuestion;
  readonly #groups = new Map<string, Sum>();
  readonly #sandbox = new Map<string, Sum>();
  readonly #terms: RollupTerms[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(question: RollupQuestion) {
    this.#question = question;
  }

  /** Adds the groups of a day. What of `background` and `streams` counts depends on other days, so it is not added. */
  add(part: RollupPart): void {
    const { rollup } = part;
    const source = { times: rollup.times, numbers: rollup.terms.map((terms) => this.#numberOf(terms)) };
    for (const segment of segmentsOf(part)) {
      this.#addGroups(this.#groups, segment.groups, segment, source);
      this.#addGroups(this.#sandbox, segment.sandbox, segment, source);
    }
  }

  /** Adds all sums to those of records. */
  addTo(sums: Pick<DaySums, "groups" | "sandbox">): void {
    this.#addAll(this.#groups, sums.groups);
    this.#addAll(this.#sandbox, sums.sandbox);
  }

  #addGroups(
    sums: Map<string, Sum>,
    groups: readonly RollupGroup[],
    { from }: RollupSegment,
    source: Source,
  ): void {
    const { by, calendar, filter } = this.#question;
    const times = by.map((grouping) =>
      isTime(grouping) && grouping !== "hour" ? timeName(grouping, from, calendar) : null,
    );
    for (const group of groups) {
      if (!isAdmitted(filter, (field) => nameOf(group, field === "model" ? REQUESTED : PLACES[field])))
        continue;
      const names = by.map((grouping, at) => times[at] ?? nameFor(grouping, group));
      const key = JSON.stringify(names);
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, startSum(names, group, source));
      else addGroup(sum, group, source);
    }
  }

  #addAll(sums: Map<string, Sum>, groups: Groups): void {
    for (const sum of sums.values()) {
      const tally = groups.at(sum.names);
      tally.addEncoded(this.#toTally(sum));
      tally.ttft.addAll(sum.ttft);
      tally.speed.addAll(sum.speed);
    }
  }

  /** Returns the sums without their times. */
  #toTally({ counts, reasoning, planRequests, billed, charges }: Sum): EncodedTally {
    const all = Array.from(charges, ([number, charge]) => this.#toCharge(number, charge));
    return {
      counts,
      reasoning,
      planRequests,
      ttft: "",
      speed: "",
      spending: { billed: formatMoney(billed), leftOut: 0, charges: all },
      missed: null,
    };
  }

  #toCharge(number: number, { requests, tokens, tools }: ChargeSum): Charge {
    const terms = this.#terms[number];
    if (terms === undefined) throw new Error("a charge has terms");
    const counts = Object.fromEntries(TOKEN_CLASSES.map(([name], at) => [name, tokens[at] ?? 0]));
    return {
      terms: decodeTerms(terms),
      requests,
      tokens: counts as Record<TokenClass, number>,
      tools: tools ?? {},
    };
  }

  /** Returns the same number for terms that have the same prices. */
  #numberOf(terms: RollupTerms): number {
    const [upstream, model, ts, ...rest] = terms;
    const slot = model === null ? 0 : this.#question.prices.slotOf(upstream, model, ts);
    const key = JSON.stringify([upstream, model, slot, rest]);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#terms.length;
      this.#terms.push(terms);
      this.#numbers.set(key, number);
    }
    return number;
  }
}

function decodeTerms([
  upstream,
  model,
  ts,
  tier,
  speed,
  geo,
  [least, most],
  isSum,
  isOwn,
  certainty,
  media,
]: RollupTerms): PriceTerms {
  return { upstream, model, ts, tier, speed, geo, least, most, isSum, isOwn, certainty, media };
}

function nameFor(grouping: Grouping, group: RollupGroup): string | null {
  return grouping === "account" ? accountOf(upstreamOf(group)) : nameOf(group, PLACES[grouping]);
}

function upstreamOf(group: RollupGroup): string {
  return nameOf(group, UPSTREAM) ?? "";
}

/** Returns null also for what rollups do not know. */
function nameOf({ names }: RollupGroup, place: number | undefined): string | null {
  return place === undefined ? null : (names[place] ?? null);
}

function startSum(names: Names, group: RollupGroup, source: Source): Sum {
  const sum: Sum = {
    names,
    counts: group.counts.map(() => 0),
    reasoning: null,
    planRequests: 0,
    ttft: new Distribution(),
    speed: new Distribution(),
    billed: 0n,
    charges: new Map(),
  };
  addGroup(sum, group, source);
  return sum;
}

function addGroup(sum: Sum, group: RollupGroup, { times, numbers }: Source): void {
  addNumbers(sum.counts, group.counts);
  if (isPlanUpstream(upstreamOf(group))) sum.planRequests += requestsOf(group.counts);
  if (group.reasoning !== null) sum.reasoning = (sum.reasoning ?? 0) + group.reasoning;
  const { times: at } = group;
  sum.ttft.addLater(() => times.texts[at] ?? "");
  sum.speed.addLater(() => times.texts[at + 1] ?? "");
  if (group.billed !== "0") sum.billed += parseMoney(group.billed) ?? 0n;
  for (const [terms, requests, tokens, tools] of group.charges) {
    const number = numbers[terms] ?? 0;
    let charge = sum.charges.get(number);
    if (charge === undefined) {
      charge = { requests: 0, tokens: tokens.map(() => 0), tools: null };
      sum.charges.set(number, charge);
    }
    charge.requests += requests;
    addNumbers(charge.tokens, tokens);
    if (tools !== undefined) charge.tools = addTools(charge.tools, tools);
  }
}

function addNumbers(sums: number[], more: readonly number[]): void {
  for (let at = 0; at < sums.length; at += 1) sums[at] = (sums[at] ?? 0) + (more[at] ?? 0);
}

function addTools(sums: Record<string, number> | null, more: Charge["tools"]): Record<string, number> {
  // Without a prototype, whatever the names of the tools are.
  const all = sums ?? (Object.create(null) as Record<string, number>);
  for (const [name, calls] of Object.entries(more)) all[name] = (all[name] ?? 0) + calls;
  return all;
}
