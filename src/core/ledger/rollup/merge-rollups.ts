import { TOKEN_CLASSES, type Charge } from "../../price/charge.ts";
import type { EncodedSpending, PriceSlots } from "../../price/spending.ts";
import type { EncodedDay } from "../day-sums.ts";
import { RollupBuilder, type Rollup, type RollupCharge, type RollupGroup } from "../rollup.ts";
import { decodeTerms } from "./charge-table.ts";

/**
 * Adds up the rollups of a month, given in their order. Its sums have one part, so they are those of any time of the month.
 * @param month `YYYY-MM`
 * @param slots tell times apart at which prices are different
 */
export function mergeRollups(month: string, rollups: readonly Rollup[], slots: PriceSlots): Rollup {
  const limits = commonLimits(rollups);
  const builder = new RollupBuilder("rollup", month, [], limits, {
    slotOf: (upstream, model, ts) => slots.slotOf(upstream, model, ts),
    limitsOf: () => limits,
  });
  for (const rollup of rollups) {
    for (const sums of decodeSums(rollup)) builder.addSums(sums);
    builder.addSkipped(rollup.skipped);
  }
  return builder.take();
}

/** Returns the sizes that prompts are told apart by in each of these sums. */
function commonLimits(rollups: readonly Rollup[]): number[] {
  const [first, ...others] = rollups.map(({ limits }) => limits);
  return (first ?? []).filter((limit) => others.every((limits) => limits.includes(limit)));
}

function* decodeSums(rollup: Rollup): Generator<EncodedDay> {
  const terms = rollup.terms.map(decodeTerms);
  const decode = (groups: readonly RollupGroup[]) =>
    groups.map((group) => decodeGroup(group, terms, rollup.times.texts));
  for (const { groups, sandbox, background, streams } of rollup.segments)
    yield { groups: decode(groups), sandbox: decode(sandbox), background, streams };
}

/** What failed midway is told from the outcome when sums are read, and who paid from the upstream: neither is counted here. */
function decodeGroup(
  { names, counts, reasoning, times, billed, charges }: RollupGroup,
  terms: readonly Charge["terms"][],
  texts: readonly string[],
): EncodedDay["groups"][number] {
  return {
    names,
    counts,
    reasoning,
    failedMidway: 0,
    planRequests: 0,
    extraRequests: 0,
    ownRequests: 0,
    ttft: texts[times] ?? "",
    speed: texts[times + 1] ?? "",
    spending: { billed, charges: charges.map((charge) => decodeCharge(charge, terms)), leftOut: 0 },
    missed: null,
  };
}

function decodeCharge(
  [number, requests, counts, tools = {}]: RollupCharge,
  terms: readonly Charge["terms"][],
): EncodedSpending["charges"][number] {
  const found = terms[number];
  if (found === undefined) throw new Error("a charge has terms");
  const tokens = Object.fromEntries(
    TOKEN_CLASSES.map(([name], at) => [name, counts[at] ?? 0]),
  ) as Charge["tokens"];
  return { terms: found, requests, tokens, tools };
}
