import { isObject, type JsonObject } from "../../json.ts";
import { MAX_EXTRA } from "../usage-format.ts";
import { asText } from "../fields.ts";
import { readMessagesCounts } from "./usage.ts";
import type { ExtraTokens, Flag } from "../reading.ts";
import { toTokenClasses, type CacheLifetimes } from "../tokens.ts";

/** What `usage.iterations` says beyond the top-level usage. */
interface Iterations {
  /** The token sets that the top-level usage leaves out. */
  extra: ExtraTokens[];
  /** Cache writes by lifetime, summed over the iterations in the top-level usage; null unless all of them report it. */
  lifetimes: CacheLifetimes | null;
  /** The model that served after a fallback; null when there was none. */
  servedModel: string | null;
}

/** Whether an iteration is included in the top-level usage, billed in addition to it, or billed only in some cases. */
type Billing = "included" | "additional" | "uncertain";

/** Reads the breakdown of usage by sampling iteration (docs/wire.md section 5). `model` is the message's own. */
export function readIterations(value: unknown, model: string | null, flags: Set<Flag>): Iterations {
  const iterations = Array.isArray(value) ? value.filter(isObject) : [];
  const served = iterations.findLast(({ type }) => type === "fallback_message");
  const servedModel = asText(served?.["model"]);
  const billed = iterations.map((iteration) => ({
    iteration,
    billing: billingOf(iteration, servedModel, model, flags),
  }));
  const included = billed.filter(({ billing }) => billing === "included");
  const extra = billed.filter(({ billing }) => billing !== "included");
  if (extra.length > MAX_EXTRA) flags.add("extra_cut_short");
  return {
    extra: extra.slice(0, MAX_EXTRA).map(({ iteration, billing }) => readExtra(iteration, billing, flags)),
    lifetimes: addLifetimes(included.map(({ iteration }) => iteration)),
    servedModel,
  };
}

function billingOf(
  iteration: JsonObject,
  servedModel: string | null,
  model: string | null,
  flags: Set<Flag>,
): Billing {
  switch (iteration["type"]) {
    case "message":
    case "fallback_message":
      // After fallbacks the top-level usage is that of the attempt that served. Earlier ones are billed only in some cases.
      if (servedModel === null || (asText(iteration["model"]) ?? model) === servedModel) return "included";
      return "uncertain";
    case "compaction":
    case "advisor_message":
      return "additional";
    default:
      flags.add("unknown_iteration_type");
      return "uncertain";
  }
}

function readExtra(iteration: JsonObject, billing: Billing, flags: Set<Flag>): ExtraTokens {
  return {
    type: asText(iteration["type"]) ?? "unknown",
    model: asText(iteration["model"]),
    ...toTokenClasses(readMessagesCounts(iteration), flags),
    billable: billing === "additional" ? true : null,
  };
}

function addLifetimes(iterations: JsonObject[]): CacheLifetimes | null {
  const split = iterations.map((iteration) => readMessagesCounts(iteration).lifetimes);
  if (split.length === 0) return null;
  return split.reduce((sum, next) => {
    if (sum === null || next === null) return null;
    return { m5: (sum.m5 ?? 0) + (next.m5 ?? 0), h1: (sum.h1 ?? 0) + (next.h1 ?? 0) };
  });
}
