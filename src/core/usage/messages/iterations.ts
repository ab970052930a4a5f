import { MOST_EXTRA } from "../dialect.ts";
import { fieldsOf, isFields, textOf } from "../fields.ts";
import type { Fields } from "../json/json-scan.ts";
import { readMessagesCounts } from "./usage.ts";
import type { ExtraTokens, Flag } from "../reading.ts";
import { classesOf } from "../tokens.ts";
import type { Lifetimes } from "../tokens.ts";

/** What `usage.iterations` adds to the top-level usage. */
export interface Iterations {
  /** The sets that the top-level usage leaves out. */
  extra: ExtraTokens[];
  /** Cache writes by lifetime, summed over the iterations that the top-level usage contains; null where one is silent. */
  lifetimes: Lifetimes | null;
  /** The model that served after a fallback; null when there was none. */
  servedModel: string | null;
}

/** `in`: part of the top-level usage. `out`: billed besides it. `maybe`: besides it, and not always billed. */
type Place = "in" | "out" | "maybe";

/** Reads the per-sampling breakdown (usage.md section 1.1). `model`: the one that the message names. */
export function readIterations(value: unknown, model: string | null, flags: Set<Flag>): Iterations {
  const iterations = Array.isArray(value) ? value.filter(isFields) : [];
  const served = iterations.findLast(({ type }) => type === "fallback_message");
  const servedModel = textOf(served?.["model"]);
  const placed = iterations.map((iteration) => ({
    iteration,
    place: placeOf(iteration, servedModel, model, flags),
  }));
  const besides = placed.filter(({ place }) => place !== "in");
  if (besides.length > MOST_EXTRA) flags.add("extra_cut_short");
  return {
    extra: besides.slice(0, MOST_EXTRA).map(({ iteration, place }) => readExtra(iteration, place, flags)),
    lifetimes: addLifetimes(placed.filter(({ place }) => place === "in").map(({ iteration }) => iteration)),
    servedModel,
  };
}

function placeOf(
  iteration: Fields,
  servedModel: string | null,
  model: string | null,
  flags: Set<Flag>,
): Place {
  switch (iteration["type"]) {
    case "message":
    case "fallback_message":
      // A fallback chain's top-level usage is the attempt that served; those before it are billed in some cases.
      return servedModel === null || (textOf(iteration["model"]) ?? model) === servedModel ? "in" : "maybe";
    case "compaction":
    case "advisor_message":
      return "out";
    default:
      flags.add("unknown_iteration_type");
      return "maybe";
  }
}

function readExtra(iteration: Fields, place: Place, flags: Set<Flag>): ExtraTokens {
  return {
    type: textOf(iteration["type"]) ?? "unknown",
    model: textOf(iteration["model"]),
    ...classesOf(readMessagesCounts(iteration), flags),
    billable: place === "out" ? true : null,
  };
}

function addLifetimes(iterations: Fields[]): Lifetimes | null {
  const split = iterations.map((iteration) => readMessagesCounts(fieldsOf(iteration)).lifetimes);
  if (split.length === 0) return null;
  return split.reduce((sum, next) =>
    sum === null || next === null
      ? null
      : { m5: (sum.m5 ?? 0) + (next.m5 ?? 0), h1: (sum.h1 ?? 0) + (next.h1 ?? 0) },
  );
}
