import assert from "node:assert/strict";
import { HABITS } from "./habits.ts";
import { findOn, makeUp } from "./made-up-ledger.ts";

const DAYS = 60;
/** Before it, too little is known for most kinds. */
const FIRST_JUDGED = 7;
const SEEDS = [1, 2];

/**
 * Asserts that ledgers in which nothing is out of line have fewer than one finding a week.
 * @param step one day in so many is judged; a day takes 0.02 s in each of 14 ledgers
 */
export function assertQuiet(step: number): void {
  const judged = Array.from({ length: DAYS }, (_, day) => day).filter(
    (day) => day >= FIRST_JUDGED && (day - FIRST_JUDGED) % step === 0,
  );
  const perWeek = Object.entries(HABITS).map(([name, habits]) => {
    const found = SEEDS.flatMap((seed) => {
      const days = makeUp(seed, habits, DAYS);
      return judged.flatMap((day) => findOn(days, day));
    });
    return [name, (7 * found.length) / SEEDS.length / judged.length] as const;
  });
  const most = Math.max(...perWeek.map(([, findings]) => findings));
  assert.ok(most < 0.75, JSON.stringify(Object.fromEntries(perWeek)));
}
