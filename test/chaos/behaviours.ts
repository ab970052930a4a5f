import { BAD_BEHAVIOURS } from "./bad-behaviours.ts";
import type { Call } from "./call.ts";
import { GOOD_BEHAVIOURS } from "./good-behaviours.ts";
import { HOSTILE_BEHAVIOURS } from "./hostile-behaviours.ts";
import { chance, oneOf, type Random } from "./random.ts";

/** What the evil upstream does with one request. */
export type Behaviour = (call: Call) => Promise<void>;

const EVIL = { ...GOOD_BEHAVIOURS, ...BAD_BEHAVIOURS, ...HOSTILE_BEHAVIOURS };

/** So many of the answers are plainly honest, that there is something to be disturbed. */
const HONEST_SHARE = 0.35;

/** The names of all that are drawn. */
export const BEHAVIOUR_NAMES = Object.keys(EVIL);

/** What to do with the request of this number, of those that came with a good key: everything once, then as it comes. */
export function drawBehaviour(request: number, random: Random): [name: string, Behaviour] {
  const drawn = chance(random, HONEST_SHARE) ? "honest" : oneOf(random, BEHAVIOUR_NAMES);
  const name = BEHAVIOUR_NAMES[request] ?? drawn;
  const behaviour = EVIL[name];
  if (behaviour === undefined) throw new Error(`no behaviour is called ${name}`);
  return [name, behaviour];
}
