import type { TimedRow } from "../feed-types.ts";
import { nameGroup } from "../project-names.ts";
import { allOf, nameIn, wordForCost } from "../usage-sums.ts";
import { approximately, howMuch, LONG, MUCH, type HowMuch } from "./how-much.ts";

/** Of fewer requests, a mean and a median say little. */
const FEWEST = 20;
/** If a larger part of the requests has no final token counts, a cost says little. */
const MOST_UNCOUNTED = 0.1;

/**
 * Says in a sentence how two rows differ in what a request costs, and in how soon its first token comes: `gpt-5.5 costs a third as much per
 * request as opus, and its first token takes half as long.` It leaves out what the figures do not say: of few requests, of unpriced ones, and
 * of those that a plan or a key of the tool's own paid.
 * @returns "" if nothing can be said
 */
export function verdictOf(one: TimedRow, other: TimedRow, by: string): string {
  if ([one, other].some(({ requests }) => requests < FEWEST)) return "";
  const [first = "", second = ""] = [one, other].map((row) => nameGroup(by, nameIn(row, by)));
  const cost = costBeside(one, other);
  const time = timeBeside(one, other);
  if (cost !== null) {
    const costs = `${second} costs ${cost.text} per request ${cost.than} ${first}`;
    return time === null ? `${costs}.` : `${costs}, and its first token takes ${time.text}.`;
  }
  return time === null
    ? ""
    : `The first token of ${second} takes ${time.text} ${time.than} that of ${first}.`;
}

function costBeside(one: TimedRow, other: TimedRow): HowMuch | null {
  const slacks = [one, other].map(uncountedOf);
  if (!slacks.every((slack) => slack <= MOST_UNCOUNTED)) return null;
  const [cost, otherCost] = [one, other].map((row) => Number(row.cost_usd) / allOf(row));
  const found = howMuch(otherCost ?? 0, cost ?? 0, MUCH, Math.max(...slacks));
  const isExact = slacks.every((slack) => slack === 0);
  return found === null || isExact ? found : approximately(found);
}

/** The part of the requests whose cost is not counted; Infinity where it cannot be said how much of the cost is missing. */
function uncountedOf(row: TimedRow): number {
  const { requests, partial, absent, unpriced, plan_requests: byPlan, own_requests: byOwnKey } = row;
  if (wordForCost(row) !== null || unpriced.length > 0 || byPlan + byOwnKey > 0) return Infinity;
  if (row.cost_is_exact) return 0;
  return partial + absent === 0 ? Infinity : (partial + absent) / requests;
}

function timeBeside({ ttft_ms: time }: TimedRow, { ttft_ms: otherTime }: TimedRow): HowMuch | null {
  return time === null || otherTime === null ? null : howMuch(otherTime.median, time.median, LONG);
}
