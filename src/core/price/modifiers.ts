import { decimalOf, type Decimal } from "./money.ts";
import { isSpecial, type ModifierKind } from "./modifier-kinds.ts";
import type { RateClass } from "./rate-class.ts";

/** What multiplies the prices of tokens. Prices per call are never multiplied. */
interface Modifier {
  provider: string;
  kind: ModifierKind;
  /** As the service reports it. */
  values: readonly string[];
  factor: number;
  /** The models that the source names, by their ids in the price table; absent for all. */
  models?: readonly string[];
  /** The classes that the source names; absent for all. */
  classes?: readonly RateClass[];
  /** True where the source leaves out requests of long-context price. */
  isShortOnly?: true;
}

/** https://openai.com/api-fast-mode/ gives a price for these three, but none for cache writes. */
const FAST_CLASSES = ["input", "cacheRead", "output"] as const;
const FAST = {
  provider: "openai",
  kind: "tier",
  // `priority` was renamed `fast` on 2026-07-30.
  values: ["priority", "fast"],
  classes: FAST_CLASSES,
} as const;

/** Claude Opus 4.6 and all later models (https://platform.claude.com/docs/en/manage-claude/data-residency). */
const CLAUDE_WITH_REGION = [
  "claude-opus-4-6",
  "claude-sonnet-4-6",
  "claude-opus-4-7",
  "claude-opus-4-8",
  "claude-opus-5",
  "claude-opus-5-5",
  "claude-sonnet-5",
  "claude-fable-5",
  "claude-fable-5-1",
  "claude-fable-5-2",
  "claude-haiku-5-5",
  "claude-sonnet-5-5",
];

const GPT_SINCE_54 = [
  "gpt-5.4",
  "gpt-5.4-mini",
  "gpt-5.4-nano",
  "gpt-5.4-pro",
  "gpt-5.5",
  "gpt-5.5-pro",
  "gpt-5.6-luna",
  "gpt-5.6-sol",
  "gpt-5.6-terra",
];

/** Models since 2026-03-05 (https://developers.openai.com/api/docs/guides/data-residency). */
const GPT_WITH_REGION = GPT_SINCE_54.concat(
  "gpt-6-astra",
  "gpt-6-luna",
  "gpt-6-sol",
  "gpt-6.1-sol",
  "gpt-6.1-terra",
  "gpt-6.2-astra",
  "gpt-6.2-sol",
);

/** https://developers.openai.com/api/docs/pricing, "Flex". */
const FLEX_MODELS = GPT_SINCE_54.concat(
  "gpt-5",
  "gpt-5-mini",
  "gpt-5-nano",
  "gpt-5.1",
  "gpt-5.2",
  "o3",
  "o4-mini",
);

/**
 * The modifiers that are known for certain, which the price table does not have. As of 2026-11-23; where a source names models or
 * classes, no others are assumed. Anthropic's priority tier and OpenAI's scale tier are left out: their prices are in contracts.
 */
const MODIFIERS: readonly Modifier[] = [
  // https://platform.claude.com/docs/en/build-with-claude/batch-processing: all tokens, cache reads and writes too.
  { provider: "anthropic", kind: "tier", values: ["batch"], factor: 0.5 },
  // https://platform.claude.com/docs/en/build-with-claude/fast-mode: cache multipliers apply on top.
  {
    provider: "anthropic",
    kind: "speed",
    values: ["fast"],
    factor: 6,
    models: ["claude-opus-4-6", "claude-opus-4-7"],
    isShortOnly: true,
  },
  {
    provider: "anthropic",
    kind: "speed",
    values: ["fast"],
    factor: 2,
    models: ["claude-opus-4-8", "claude-opus-5"],
  },
  { provider: "anthropic", kind: "region", values: ["us"], factor: 1.1, models: CLAUDE_WITH_REGION },
  // https://ai.google.dev/gemini-api/docs/pricing: half of input and output. The cache is not said to be; priority varies by model.
  {
    provider: "google",
    kind: "tier",
    values: ["batch", "flex"],
    factor: 0.5,
    classes: ["input", "output"],
  },
  // https://developers.openai.com/api/docs/guides/batch: half of everything.
  { provider: "openai", kind: "tier", values: ["batch"], factor: 0.5 },
  { provider: "openai", kind: "tier", values: ["flex"], factor: 0.5, models: FLEX_MODELS },
  { ...FAST, factor: 2, models: ["gpt-5.6-luna", "gpt-5.6-sol", "gpt-5.6-terra"] },
  { ...FAST, factor: 2.5, models: ["gpt-5.5"], isShortOnly: true },
  {
    ...FAST,
    factor: 2,
    models: ["gpt-5", "gpt-5.1", "gpt-5.2", "gpt-5.4", "gpt-5.4-mini", "gpt-4.1-nano"],
    isShortOnly: true,
  },
  { ...FAST, factor: 1.8, models: ["gpt-5-mini"], isShortOnly: true },
  { ...FAST, factor: 1.75, models: ["gpt-4.1", "gpt-4.1-mini"], isShortOnly: true },
  {
    provider: "openai",
    kind: "region",
    values: ["us", "eu", "au", "in", "jp"],
    factor: 1.1,
    models: GPT_WITH_REGION,
  },
];

/** Hosts at which a service runs a model in a region, of which the price table knows only the global one. */
const REGIONAL_HOSTS: readonly { host: RegExp; global: string }[] = [
  { host: /^https:\/\/([a-z]{2})\.(?=api\.openai\.com(?:\/|$))/, global: "https://" },
  { host: /^https:\/\/([a-z]{2}-[a-z]+-\d)\.(?=api\.x\.ai(?:\/|$))/, global: "https://" },
];

/** Returns a base URL without its region, and the region; null where it names none. */
export function splitRegion(baseUrl: string): { baseUrl: string; region: string | null } {
  for (const { host, global } of REGIONAL_HOSTS) {
    const match = host.exec(baseUrl);
    if (match !== null) return { baseUrl: baseUrl.replace(host, global), region: match[1] ?? null };
  }
  return { baseUrl, region: null };
}

/** Whose prices are multiplied: a provider, and a model's id, in the price table; null where it does not know them. */
interface Priced {
  provider: string | null;
  model: string | null;
}

/** What of a request changes prices. */
export interface Condition {
  kind: ModifierKind;
  value: string;
}

/** A factor of a price, and what it is for: `tier flex`, `region us`, `discount`. */
export interface Factor {
  what: string;
  value: Decimal;
}

/** The factors of a price, or what of the request has no factor that is known for certain. */
interface Factors {
  factors: readonly Factor[];
  unknown: readonly string[];
}

/** Returns the conditions of a request that is not at list price: most have none. null stands for what is not said. */
export function findConditions(
  tier: string | null,
  speed: string | null,
  regions: readonly (string | null)[],
): Condition[] {
  const conditions: Condition[] = [];
  if (isSpecial("tier", tier)) conditions.push({ kind: "tier", value: tier });
  if (isSpecial("speed", speed)) conditions.push({ kind: "speed", value: speed });
  for (const value of regions) if (isSpecial("region", value)) conditions.push({ kind: "region", value });
  return conditions;
}

const NO_FACTORS: Factors = { factors: [], unknown: [] };

/** Returns what multiplies a price per token of this class. `isLong`: it is a long-context price. */
export function findFactors(
  conditions: readonly Condition[],
  priced: Priced,
  rateClass: RateClass,
  isLong: boolean,
): Factors {
  if (conditions.length === 0) return NO_FACTORS;
  const factors: Factor[] = [];
  const unknown: string[] = [];
  for (const condition of conditions) {
    const what = `${condition.kind} ${condition.value}`;
    const modifier = MODIFIERS.find((one) => applies(one, condition, priced, rateClass, isLong));
    if (modifier === undefined) unknown.push(what);
    else factors.push({ what, value: decimalOf(modifier.factor) });
  }
  return { factors, unknown };
}

function applies(
  { provider, kind, values, models, classes, isShortOnly }: Modifier,
  condition: Condition,
  priced: Priced,
  rateClass: RateClass,
  isLong: boolean,
): boolean {
  return (
    provider === priced.provider &&
    kind === condition.kind &&
    values.includes(condition.value) &&
    (models === undefined || models.includes(priced.model ?? "")) &&
    (classes === undefined || classes.includes(rateClass)) &&
    !(isLong && isShortOnly === true)
  );
}
