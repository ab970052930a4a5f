import type { ReservedClass } from "../ledger/record.ts";
import type { MeterReading } from "../usage/reading.ts";
import type { BodySize } from "./budget-request.ts";

/** What was reserved for a request, in tokens. */
export interface ReservedTokens {
  input: number;
  output: number;
  /** The class of the input whose price was reserved. */
  inputClass: ReservedClass;
}

/** What a record keeps of a reservation; null where something better is known. */
interface KeptReservation {
  reserved_input: number | null;
  reserved_output: number | null;
  reserved_class: ReservedClass | null;
  reserved_tier: string | null;
  reserved_speed: string | null;
  reserved_geo: string | null;
}

const NOTHING_KEPT: KeptReservation = {
  reserved_input: null,
  reserved_output: null,
  reserved_class: null,
  reserved_tier: null,
  reserved_speed: null,
  reserved_geo: null,
};

/** Models that reason without being asked, and do not send what they reason: of OpenAI, Google and xAI. */
const REASONS_UNASKED = /(?:^|[/.])(?:o\d|gpt-(?:[5-9]|\d\d)|gemini-(?:2\.5|[3-9])|grok-(?:[4-9]|3-mini))/i;
/** Models of the same names that do not reason. */
const NEVER_REASONS = /chat|non-reasoning|image|tts|embedding/i;

/**
 * Returns what of its reservation a request keeps when it ends: until better is known, budgets count it in place of the usage. The input is
 * kept where the service did not report it. The output is kept where a response was cut, and what came of it does not tell its
 * output: none of it came, or it is no stream, or the model may have reasoned unseen (docs/budgets.md). What was asked for at another price is
 * kept with it. `model` is the one that was requested.
 */
export function keepReservation(
  reading: Pick<MeterReading, "outcome" | "usage" | "output_estimate" | "model">,
  reserved: ReservedTokens,
  { reasons, tier, speed, geo }: Pick<BodySize, "reasons" | "tier" | "speed" | "geo">,
  model: string | null,
): KeptReservation {
  const { outcome, usage, output_estimate: estimate } = reading;
  if (usage === "final" || usage === "none" || outcome === "rejected") return NOTHING_KEPT;
  const isTold = estimate !== null && !mayReason(reasons, reading.model ?? model);
  return {
    reserved_input: usage === "partial" ? null : reserved.input,
    reserved_class: usage === "partial" ? null : reserved.inputClass,
    reserved_output: usage === "pending" || (outcome === "cut" && !isTold) ? reserved.output : null,
    reserved_tier: tier,
    reserved_speed: speed,
    reserved_geo: geo,
  };
}

function mayReason(asked: boolean | null, model: string | null): boolean {
  if (asked !== null) return asked;
  return model !== null && REASONS_UNASKED.test(model) && !NEVER_REASONS.test(model);
}
