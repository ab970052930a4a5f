import { SANDBOX_UPSTREAM } from "../config/names.ts";
import { chargesOf } from "../price/charge.ts";
import type { PriceSlots } from "../price/spending.ts";
import { CopyDetector } from "./copies.ts";
import { Groups, type Names } from "./groups.ts";
import { isWanted, type RecordFilter } from "./record-filter.ts";
import type { SummableRecord } from "./record.ts";
import { classify, isBackground, type CountedRequest } from "./spend.ts";
import { StreamsWithoutUsage, type SeenStreams } from "./streams-without-usage.ts";
import type { EncodedTally } from "./tally.ts";

/** What groups stand for. */
interface Axes {
  /** Returns the names of the group of a request. `source` is the record with its usage. */
  namesOf(record: SummableRecord, source: SummableRecord): Names;
  /** The place of the model in the names; -1 where it is none of them. */
  readonly model: number;
}

/** How records are summed. */
export interface SumOptions {
  axes: Axes;
  slots: PriceSlots;
  filter: RecordFilter;
  /** Tells streams apart by the names of requests, too. */
  areStreamsNamed?: boolean;
}

/** {@link DaySums} as data. */
export interface EncodedDay {
  groups: readonly (EncodedTally & { names: Names })[];
  sandbox: EncodedDay["groups"];
  background: readonly SummableRecord[];
  streams: readonly SeenStreams[];
}

/**
 * The sums of one day's records, given in the ledger's order. Those of background responses are kept: which of them count depends on
 * those of other days.
 */
export class DaySums {
  readonly #options: SumOptions;
  readonly #copies = new CopyDetector();
  groups: Groups;
  /** Requests that the built-in sandbox responded to. Their tokens are made up, and in no other sum. */
  sandbox: Groups;
  background: SummableRecord[] = [];
  streams = new StreamsWithoutUsage();

  constructor(options: SumOptions) {
    this.#options = options;
    this.groups = new Groups(options.slots);
    this.sandbox = new Groups(options.slots);
  }

  /** Adds a record. Copies, which have the same id, count once. */
  add(record: SummableRecord): void {
    if (this.#copies.isCopy(record)) return;
    const { filter, axes, areStreamsNamed } = this.#options;
    const kind = classify(record);
    const isLeft = isBackground(record, kind);
    // Whether it is wanted depends on the record that counts.
    if (isLeft) this.background.push(record);
    if (!isWanted(filter, record, record)) return;
    this.streams.add(record, areStreamsNamed === true ? (one) => axes.namesOf(one, one) : undefined);
    if (kind === "failed") this.#groupsFor(record).at(axes.namesOf(record, record)).addFailed(record);
    else if (kind === "request" && !isLeft) this.addCounted({ record, source: record });
  }

  /** Adds a request that counts and is wanted. */
  addCounted(counted: CountedRequest): void {
    const { record, source } = counted;
    const { axes } = this.#options;
    const groups = this.#groupsFor(record);
    const names = axes.namesOf(record, source);
    const charges = chargesOf(source);
    groups.at(names).addRequest(counted, charges.own);
    if (source.extra.length === 0) return;
    const extra = charges.extra.values();
    for (const set of source.extra) {
      const charge = set.billable === true ? extra.next().value : undefined;
      const isOther = axes.model !== -1 && set.model !== null;
      groups.at(isOther ? names.with(axes.model, set.model) : names).addExtra(set, charge);
    }
  }

  /** Returns it as data that JSON can represent. */
  encode(): EncodedDay {
    return {
      groups: encodeGroups(this.groups),
      sandbox: encodeGroups(this.sandbox),
      background: this.background,
      streams: this.streams.seen(),
    };
  }

  /** Returns what was added since the last time, as data. Copies of it still count once. */
  take(): EncodedDay {
    const taken = this.encode();
    this.groups = new Groups(this.#options.slots);
    this.sandbox = new Groups(this.#options.slots);
    this.background = [];
    this.streams = new StreamsWithoutUsage();
    return taken;
  }

  /** Adds what another one was encoded to. */
  addEncoded({ groups, sandbox, background, streams }: EncodedDay): void {
    for (const { names, ...tally } of groups) this.groups.at(names).addEncoded(tally);
    for (const { names, ...tally } of sandbox) this.sandbox.at(names).addEncoded(tally);
    this.background.push(...background);
    for (const seen of streams) this.streams.addSeen(seen);
  }

  #groupsFor({ upstream }: SummableRecord): Groups {
    return upstream === SANDBOX_UPSTREAM ? this.sandbox : this.groups;
  }
}

function encodeGroups(groups: Groups): EncodedDay["groups"] {
  return Array.from(groups.all(), ([names, tally]) => ({ names, ...tally.encode() }));
}
