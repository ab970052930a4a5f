import type { PriceSlots } from "../price/spending.ts";
import { Tally } from "./tally.ts";

/** The names of a group; null stands for what the records do not say. */
export type Names = readonly (string | null)[];

/** A level of names: groups at the last one, and otherwise further levels. */
type Level = Map<string | null, Level | Tally>;

/** Tallies by their names, of which each has as many. */
export class Groups {
  readonly #slots: PriceSlots;
  readonly #first: Level = new Map();
  #size = 0;

  constructor(slots: PriceSlots) {
    this.#slots = slots;
  }

  /** How many there are. */
  get size(): number {
    return this.#size;
  }

  /** Returns the tally of a group, a new one at first. */
  at(names: Names): Tally {
    let level = this.#first;
    const last = names.length - 1;
    for (let depth = 0; depth < last; depth += 1) {
      const name = names[depth] ?? null;
      let next = level.get(name) as Level | undefined;
      if (next === undefined) level.set(name, (next = new Map() as Level));
      level = next;
    }
    const name = names[last] ?? null;
    let tally = level.get(name) as Tally | undefined;
    if (tally === undefined) {
      level.set(name, (tally = new Tally(this.#slots)));
      this.#size += 1;
    }
    return tally;
  }

  /** Returns the tally of a group that is there. */
  find(names: Names): Tally | undefined {
    let level: Level | Tally | undefined = this.#first;
    for (const name of names) level = level instanceof Tally ? undefined : level?.get(name);
    return level instanceof Tally ? level : undefined;
  }

  /** Yields all groups. Those with the same first names follow one another. */
  all(): Generator<readonly [Names, Tally]> {
    return groupsIn(this.#first, []);
  }
}

function* groupsIn(level: Level, names: Names): Generator<readonly [Names, Tally]> {
  for (const [name, next] of level) {
    if (next instanceof Tally) yield [[...names, name], next];
    else yield* groupsIn(next, [...names, name]);
  }
}
