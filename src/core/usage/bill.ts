import { isObject, type JsonObject } from "../json.ts";
import { addDecimals, decimalOf, formatDecimal, type Decimal } from "../price/money.ts";
import { asCount, asObject } from "./fields.ts";

/** More than any request costs, and less, unless it costs nothing. */
const MAX_DOLLARS = 1e6;
const MIN_DOLLARS = 1e-12;

/** xAI counts in units of 10^-10 dollars. */
const TICK_SCALE = 10;

/**
 * Reads what a service says that it charged for a request (docs/wire.md section 7), in US dollars, from a usage object; null when
 * it does not say. Estimates of gateways are no bills, and other currencies are not converted.
 */
export function readBill(usage: JsonObject): string | null {
  const ticks = asCount(usage["cost_in_usd_ticks"]);
  if (ticks !== null) return formatDecimal({ digits: BigInt(ticks), scale: TICK_SCALE });
  const { cost } = usage;
  const bill = isObject(cost) ? readTotal(cost) : readCharge(cost, usage);
  return bill === null ? null : formatDecimal(bill);
}

/** Perplexity itemises. */
function readTotal(cost: JsonObject): Decimal | null {
  const { currency } = cost;
  return currency === undefined || currency === "USD" ? asDollars(cost["total_cost"]) : null;
}

/**
 * OpenRouter's `cost` is all that it charges. With a key of one's own that is a fee, and the provider's bill is in the details. Gateways
 * that do not know a cost fill in 0 (BerriAI/litellm#37924): only with what OpenRouter says beside it, 0 means that nothing is charged.
 */
function readCharge(cost: unknown, usage: JsonObject): Decimal | null {
  const charge = asDollars(cost);
  const { is_byok: isOwnKey, cost_details: details } = usage;
  if (charge?.digits === 0n && typeof isOwnKey !== "boolean" && !isObject(details)) return null;
  if (charge === null || isOwnKey !== true) return charge;
  const ofProvider = asDollars(asObject(details)["upstream_inference_cost"]);
  return ofProvider === null ? null : addDecimals(charge, ofProvider);
}

function asDollars(value: unknown): Decimal | null {
  if (typeof value !== "number") return null;
  const isAmount = value === 0 || (value >= MIN_DOLLARS && value <= MAX_DOLLARS);
  // Turns -0 into 0.
  return isAmount ? decimalOf(Math.abs(value)) : null;
}
