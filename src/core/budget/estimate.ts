import type { RequestSize } from "./budget-request.ts";
import type { ReservedClass } from "../ledger/record.ts";
import { NO_TOKENS, type Charge } from "../price/charge.ts";
import { PICTURE, VIDEO_SECOND } from "../usage/reading.ts";
import type { PriceBook } from "../price/price-book.ts";
import { MAX_INPUT, MAX_OUTPUT } from "./most-tokens.ts";
import { costAtMost, type Spent } from "./spent.ts";

/** What a request may spend at most, in every unit that a budget may count: for its input, and for its output. */
export interface SizeBound {
  input: Spent["known"];
  output: Spent["known"];
  /** The dearest class that the input may be. */
  inputClass: ReservedClass;
}

/**
 * Returns what a request may spend by its size: all of its input, as the dearest class that it may be, and all the output that it
 * allows, at the prices of its model, or the dearest ones of the upstream. Of a batch it is the sum over its requests.
 */
export function boundRequest(
  { parts, ...size }: Omit<RequestSize, "previous" | "reasons">,
  prices: PriceBook | null,
  now: number,
): SizeBound {
  if (parts !== null)
    return parts
      .map(({ longest, ...part }) => boundPart({ ...size, ...part }, longest, prices, now))
      .reduce(addBounds);
  const input = Math.min(size.input, MAX_INPUT);
  const output = Math.min(size.output, MAX_OUTPUT);
  return boundPart({ ...size, input, output }, input, prices, now);
}

function addBounds(one: SizeBound, other: SizeBound): SizeBound {
  const inputClass =
    INPUT_CLASSES.indexOf(one.inputClass) > INPUT_CLASSES.indexOf(other.inputClass)
      ? one.inputClass
      : other.inputClass;
  return {
    inputClass,
    input: addKnown(one.input, other.input),
    output: addKnown(one.output, other.output),
  };
}

/** The cheapest first. */
const INPUT_CLASSES: readonly ReservedClass[] = [
  "input_uncached",
  "cache_write_5m",
  "cache_write_1h",
  "cache_write_12h",
];

function addKnown(one: Spent["known"], other: Spent["known"]): Spent["known"] {
  const sum = { ...one.tokens };
  for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += other.tokens[name];
  return { usd: one.usd + other.usd, tokens: sum };
}

/** Returns what requests of one model may spend together. Prices are those of the longest prompt: no shorter one costs more. */
function boundPart(
  {
    upstream,
    model,
    tier,
    speed,
    geo,
    input,
    output,
    cachesLong,
    choices,
    seconds,
  }: Omit<RequestSize, "previous" | "reasons" | "parts">,
  longest: number,
  prices: PriceBook | null,
  now: number,
): SizeBound {
  const terms = {
    upstream,
    model,
    ts: new Date(now).toISOString(),
    tier,
    speed,
    geo,
    least: longest,
    most: longest,
    isSum: false,
    isOwn: true,
    certainty: "exact",
    media: [],
  } as const;
  const costOf = (tokens: Partial<Charge["tokens"]>, tools: Charge["tools"] = {}) =>
    prices === null
      ? 0n
      : costAtMost({ terms, requests: 1, tokens: { ...NO_TOKENS, ...tokens }, tools }, prices);
  const made =
    prices === null ? null : piecesOf({ choices, seconds }, pricesOf(prices, upstream, model, now));
  let usd = made === null ? costOf({ input_uncached: input }) : 0n;
  let inputClass: ReservedClass = "input_uncached";
  for (const written of prices === null || made !== null
    ? []
    : writtenClasses(prices, upstream, model, cachesLong, now)) {
    const cost = costOf({ [written]: input });
    if (cost > usd) [usd, inputClass] = [cost, written];
  }
  return {
    inputClass,
    // Any class of input may be the one that the prompt is.
    input: {
      usd,
      tokens: { input, cacheRead: input, cacheWrite: input, output: 0, all: input },
    },
    output: {
      usd: made === null ? costOf({ output }) : costOf({}, made),
      tokens: { input: 0, cacheRead: 0, cacheWrite: 0, output, all: output },
    },
  };
}

const USUAL = ["cache_write_5m"] as const;
const LASTING = ["cache_write_5m", "cache_write_1h", "cache_write_12h"] as const;

/**
 * Returns the classes of cache writes that the input may be. Services write to a cache unasked, too, so the usual class counts wherever it
 * may have a price.
 */
function writtenClasses(
  prices: PriceBook,
  upstream: string,
  model: string | null,
  cachesLong: boolean,
  now: number,
): readonly ReservedClass[] {
  if (cachesLong) return LASTING;
  const found = pricesOf(prices, upstream, model, now);
  if (found === "free") return [];
  return found === null || found.classes.cacheWrite !== undefined ? USUAL : [];
}

function pricesOf(
  prices: PriceBook,
  upstream: string,
  model: string | null,
  now: number,
): ReturnType<PriceBook["find"]> {
  return model === null ? null : prices.find(upstream, model, now);
}

/** The length of a film whose request does not say it, in seconds. */
const ASSUMED_SECONDS = 8;

/** Returns what a model makes that is paid by number; null for one that is paid by tokens. */
function piecesOf(
  { choices, seconds }: Pick<RequestSize, "choices" | "seconds">,
  found: ReturnType<PriceBook["find"]>,
): Charge["tools"] | null {
  if (found === null || found === "free") return null;
  const { input, output, picture, videoSecond } = found.classes;
  if (input !== undefined || output !== undefined) return null;
  if (videoSecond !== undefined) return { [VIDEO_SECOND]: choices * (seconds ?? ASSUMED_SECONDS) };
  return picture === undefined ? null : { [PICTURE]: choices };
}
