import type { Config, PricedUpstream, PriceSettings } from "../config/config.ts";
import { SANDBOX_UPSTREAM } from "../config/names.ts";
import { configuredName, isPaidByTool } from "../plans/names.ts";
import { findNearest } from "../text/did-you-mean.ts";
import { compare, datedFrom } from "./combine.ts";
import {
  findConfigured,
  isChanging,
  limitsIn,
  limitsOf,
  matchingRates,
  readConfigured,
  readListed,
  type DatedRates,
} from "./dated-rates.ts";
import { findDearest, type DearestPrices } from "./dearest.ts";
import { Families } from "./families.ts";
import { splitRegion } from "./modifiers.ts";
import type { Decimal } from "./money.ts";
import { appliesAt, findMaker, findModel, findProvider, pricesAt } from "./price-table.ts";
import type {
  DatedPrices,
  FoundModel,
  PricedModel,
  PriceSource,
  PriceTable,
  Provider,
} from "./price-table.ts";
import { percentOff, readRates, type Rates } from "./rates.ts";

/** What is charged for a model at an upstream, at one time. */
export interface FoundPrices extends Rates {
  from: "configuration" | "table";
  /** Where prices of a table are from; null for those of the configuration. */
  source: PriceSource | null;
  /** The provider and the id of the model in the price table; null where it does not know them. */
  provider: string | null;
  model: string | null;
  /** The region that the upstream's host names; null where it names none. */
  region: string | null;
  /** What is left of each price after the upstream's discount; null without one. */
  discounted: Decimal | null;
}

/** Where requests go, as far as it decides prices. */
interface Seller {
  provider: Provider | null;
  region: string | null;
  isFree: boolean;
  prices: Config["prices"];
  discounted: Decimal | null;
  /** What was found so far, by the name of the model. */
  entries: Map<string, Entry>;
  /** Found when it is first needed. */
  dearest?: DearestPrices;
  families?: Families;
}

/** Everything that is known of a model at a seller. */
interface Entry {
  listed: FoundModel | null;
  /** For each pattern that matches, the first one first. */
  configured: readonly (readonly DatedRates[])[];
  table: readonly DatedRates[];
  /** Those of both that do not always apply. */
  changing: readonly (readonly DatedRates[])[];
  /** The sizes of a prompt above which a price is another one, in their order. */
  limits: readonly number[];
}

/** True in the sandbox, and where the tool itself pays: whatever the configuration says of prices, no key of ours pays for a request there. */
function costsNothing(upstream: string): boolean {
  return upstream === SANDBOX_UPSTREAM || isPaidByTool(upstream);
}

/**
 * All prices: those of the configuration and those of the price table. It is asked once for each record, and remembers what it has
 * found.
 *
 * The first of these counts: `prices` of the upstream; `prices` of the whole configuration; nothing, at an upstream that takes no
 * key; the price table. In both `prices` it is the first pattern that matches the model and has a price on that day. An imported
 * table is another source of the price table, as those that it is built of (combine.ts).
 */
export class PriceBook {
  readonly table: PriceTable;
  /** The table that was imported; null for none. */
  readonly imported: PriceTable | null;
  readonly #prices: Config["prices"];
  readonly #sellers: ReadonlyMap<string, Seller>;
  readonly #unknown: Seller;

  constructor(
    { prices, upstreams }: Omit<PriceSettings, "priceTable">,
    table: PriceTable,
    imported: PriceTable | null = null,
  ) {
    this.table = table;
    this.imported = imported;
    this.#prices = prices;
    this.#sellers = new Map(
      Object.values(upstreams).map((one) => [one.name, describeSeller(one, [table, imported])]),
    );
    const nothing = { provider: null, region: null, isFree: false, prices: {}, discounted: null };
    this.#unknown = { ...nothing, entries: new Map() };
  }

  /**
   * Returns what a model would cost if a key of ours paid, at a time in milliseconds since 1970. Without a plan that is what {@link find}
   * returns for an upstream that the configuration does not have, and without the tool's own key what it returns for the same upstream.
   */
  findWorth(upstream: string, model: string, at: number): ReturnType<PriceBook["find"]> {
    return this.#findPaid(upstream, model, at);
  }

  /**
   * Returns what a model costs at an upstream at a time, in milliseconds since 1970; `free` in the sandbox, where the tool itself pays, and at one that takes no key,
   * unless the configuration has a price; null when no price is known. Upstreams are looked up in the present configuration. At one that is
   * no longer in it, a model costs what its maker charges.
   */
  find(upstream: string, model: string, at: number): FoundPrices | "free" | null {
    return costsNothing(upstream) ? "free" : this.#findPaid(upstream, model, at);
  }

  #findPaid(upstream: string, model: string, at: number): ReturnType<PriceBook["find"]> {
    const seller = this.#sellerOf(upstream);
    const { listed, configured, table } = this.#entry(seller, model);
    const own = findConfigured(configured, at);
    if (own === undefined && seller.isFree) return "free";
    const rates = own ?? pricesAt(table, at);
    if (rates === undefined) return null;
    return {
      classes: rates.classes,
      media: rates.media,
      others: rates.others,
      hasTiers: rates.hasTiers,
      from: own === undefined ? "table" : "configuration",
      source: rates.source,
      provider: listed?.provider ?? seller.provider?.id ?? null,
      model: listed?.model.id ?? null,
      region: seller.region,
      discounted: seller.discounted,
    };
  }

  /**
   * Returns a number for the prices that a model has at an upstream at a time, as ISO 8601. Times with the same number have the same
   * prices. It is the same in every book of the same configuration and table.
   */
  slotOf(upstream: string, model: string, ts: string): number {
    if (upstream === SANDBOX_UPSTREAM) return 0;
    const { changing } = this.#entry(this.#sellerOf(upstream), model);
    if (changing.length === 0) return 0;
    const at = Date.parse(ts);
    let slot = 0;
    for (const dated of changing)
      slot = slot * (dated.length + 1) + 1 + dated.findLastIndex((one) => appliesAt(one, at));
    return slot;
  }

  /** Returns the sizes of a prompt above which a model's price at an upstream may be another one, in their order. */
  limitsOf(upstream: string, model: string): readonly number[] {
    if (upstream === SANDBOX_UPSTREAM) return [];
    return this.#entry(this.#sellerOf(upstream), model).limits;
  }

  /** Returns those of all models, for what adds up before it is priced. */
  allLimits(): readonly number[] {
    const configured = [this.#prices, ...Array.from(this.#sellers.values(), ({ prices }) => prices)];
    const providers = [...this.table.providers, ...(this.imported?.providers ?? [])];
    const table = providers.flatMap(({ models }) => models.flatMap(({ prices }) => prices));
    return limitsIn([
      ...configured.flatMap((prices) => Object.values(prices).flat()),
      ...table.map(({ rates }) => rates),
    ]);
  }

  /**
   * Returns the dearest price of each class that any model at an upstream has, or had: of the configuration, and of the table's models of
   * its provider; at an upstream that the table does not know, those of all makers. Nothing for one that takes no key, or the sandbox.
   */
  dearest(upstream: string): DearestPrices {
    const seller = this.#sellerOf(upstream);
    if (seller.isFree || costsNothing(upstream)) return {};
    seller.dearest ??= findDearest(this.#allRates(seller), seller.discounted);
    return seller.dearest;
  }

  /**
   * Returns what to assume that tokens of a model without a price cost: the dearest prices of each class among the models that are most
   * like it, for prompts of some sizes, at a time in milliseconds since 1970; without such a model, {@link dearest}.
   */
  assumed(
    upstream: string,
    model: string | null,
    { least, most, at }: { least: number; most: number; at: number },
  ): DearestPrices {
    const seller = this.#sellerOf(upstream);
    const alike = model === null ? [] : this.similar(upstream, model, at);
    return alike.length === 0
      ? this.dearest(upstream)
      : findDearest(alike, seller.discounted, { least, most });
  }

  /**
   * Returns the list prices of the models at an upstream that are most like one, at a time in milliseconds since 1970. Nothing where no
   * model is like it, and at one that takes no key.
   */
  similar(upstream: string, model: string, at: number): readonly Rates[] {
    const seller = this.#sellerOf(upstream);
    if (seller.isFree || costsNothing(upstream)) return [];
    seller.families ??= this.#familiesAt(seller);
    return seller.families.like(model, at);
  }

  #familiesAt(seller: Seller): Families {
    const families = new Families();
    for (const prices of [seller.prices, this.#prices])
      for (const [pattern, dated] of Object.entries(prices)) families.add(pattern, dated.map(readConfigured));
    for (const { id, prices } of this.#modelsAt(seller))
      families.add(
        id,
        prices.map((one) => readListed(one, this.table)),
      );
    return families;
  }

  *#allRates(seller: Seller): Generator<Rates> {
    for (const dated of [...Object.values(seller.prices), ...Object.values(this.#prices)].flat())
      yield readRates(dated);
    for (const { prices: dated } of this.#modelsAt(seller))
      for (const { rates } of dated) yield readRates(rates);
  }

  /** The models of a seller in the table, or of all makers. */
  #modelsAt({ provider }: Seller): PricedModel[] {
    const { providers } = this.table;
    const sellers =
      provider === null
        ? providers.filter(({ makes }) => makes !== undefined)
        : providers.filter((one) => one === provider || provider.alsoServes?.includes(one.id));
    return sellers.flatMap(({ models }) => models);
  }

  /** Returns the model of the price table whose name is closest to one that it does not have; null when none is close. */
  nearestListed(upstream: string, model: string): string | null {
    if (this.findListed(upstream, model) !== null || findModel(this.table, null, model) !== null) return null;
    const sellers = [this.#sellerOf(upstream), this.#unknown];
    const ids = sellers.map((seller) => this.#modelsAt(seller).map(({ id }) => id));
    return ids.map((known) => findNearest(model, known)).find((nearest) => nearest !== null) ?? null;
  }

  /** Returns what the price table has for a model at an upstream, whatever the configuration says; null if nothing. */
  findListed(upstream: string, model: string): FoundModel | null {
    return this.#entry(this.#sellerOf(upstream), model).listed;
  }

  /**
   * Returns the id of the provider that bills the requests to a model at an upstream. At one whose address the table does not know, such as
   * a gateway, that is the maker of the model; null where it is not known either, and at one that takes no key, such as a local server.
   */
  billerOf(upstream: string, model: string): string | null {
    const { provider, isFree } = this.#sellerOf(upstream);
    if (provider !== null) return provider.id;
    return isFree ? null : findMaker(this.table, model);
  }

  /** Finds a model in both tables. The imported one counts from its day on, unless the other is newer, and fills gaps always. */
  #findInTables(
    provider: Provider | null,
    model: string,
  ): { listed: FoundModel | null; table: DatedRates[] } {
    const { table: builtIn, imported } = this;
    const isListed = provider === null || builtIn.providers.includes(provider);
    const listed = isListed ? findModel(builtIn, provider, model) : null;
    const table = (listed?.model.prices ?? []).map((one) => readListed(one, builtIn));
    if (imported === null) return { listed, table };
    const same = provider === null ? null : imported.providers.find(({ id }) => id === provider.id);
    const own = same === undefined ? null : findModel(imported, same, model);
    if (own === null) return { listed, table };
    const read = (one: DatedPrices) => readListed(one, imported);
    if (listed === null) return { listed: own, table: own.model.prices.map(read) };
    const isNewer = imported.asOf >= builtIn.asOf;
    if (!isNewer || compare(listed.model.prices, own.model.prices, imported.asOf).length === 0)
      return { listed, table };
    return { listed, table: [...table, ...datedFrom(own.model.prices, imported.asOf).map(read)] };
  }

  #sellerOf(upstream: string): Seller {
    return this.#sellers.get(configuredName(upstream)) ?? this.#unknown;
  }

  #entry(seller: Seller, model: string): Entry {
    const known = seller.entries.get(model);
    if (known !== undefined) return known;
    const { listed, table } = this.#findInTables(seller.provider, model);
    const configured = [seller.prices, this.#prices].flatMap((prices) => matchingRates(prices, model));
    const changing = [...configured, table].filter(isChanging);
    const limits = limitsOf([...configured, table].flat());
    const entry = { listed, configured, table, changing, limits };
    seller.entries.set(model, entry);
    return entry;
  }
}

function describeSeller(
  { baseUrl, auth, prices, discount }: PricedUpstream,
  tables: readonly (PriceTable | null)[],
): Seller {
  const { baseUrl: global, region } = splitRegion(baseUrl);
  const known = tables.flatMap((table) => (table === null ? [] : (findProvider(table, global) ?? [])));
  return {
    provider: known[0] ?? null,
    region,
    isFree: auth === "none",
    prices,
    discounted: discount === 0 ? null : percentOff(discount),
    entries: new Map(),
  };
}
