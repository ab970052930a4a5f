import { FAILING_BEHAVIOURS } from "./failing-behaviours.ts";
import type { Call } from "./call.ts";
import { VALID_BEHAVIOURS } from "./valid-behaviours.ts";
import { HOSTILE_BEHAVIOURS } from "./hostile-behaviours.ts";
import { chance, oneOf, type Random } from "./random.ts";

/** What the hostile upstream does with one request. */
export type UpstreamBehaviour = (call: Call) => Promise<void>;

const UPSTREAM_BEHAVIOURS = { ...VALID_BEHAVIOURS, ...FAILING_BEHAVIOURS, ...HOSTILE_BEHAVIOURS };

/** The share of plain, valid responses, so that there is something to disturb. */
const PLAIN_SHARE = 0.35;

/** The names of all behaviours. */
export const UPSTREAM_BEHAVIOUR_NAMES = Object.keys(UPSTREAM_BEHAVIOURS);

/** Draws the behaviour for the nth request with a valid key: each one once in order, then randomly. */
export function drawUpstreamBehaviour(request: number, random: Random): [name: string, UpstreamBehaviour] {
  const drawn = chance(random, PLAIN_SHARE) ? "plain" : oneOf(random, UPSTREAM_BEHAVIOUR_NAMES);
  return findUpstreamBehaviour(UPSTREAM_BEHAVIOUR_NAMES[request] ?? drawn);
}

/** Throws when there is none of this name. */
export function findUpstreamBehaviour(name: string): [name: string, UpstreamBehaviour] {
  const behaviour = UPSTREAM_BEHAVIOURS[name];
  if (behaviour === undefined) throw new Error(`no behaviour is called ${name}`);
  return [name, behaviour];
}
