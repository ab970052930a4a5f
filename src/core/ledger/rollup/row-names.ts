import type { Names } from "../groups.ts";
import { PairNumbers } from "./pair-numbers.ts";

/** Numbers rows by their names, and by whether they are of the sandbox. Each name is kept once, because a year has many rows. */
export class RowNames {
  readonly #texts: (string | null)[] = [];
  readonly #numbers = new Map<string | null, number>();
  /** Each name with what is before it. The last ones are the rows, or these where rows have no names. */
  readonly #sandbox = new PairNumbers();
  readonly #levels: readonly PairNumbers[];

  /** @param depth how many names a row has */
  constructor(depth: number) {
    this.#levels = Array.from({ length: depth }, () => new PairNumbers());
  }

  /** How many rows there are. */
  get size(): number {
    return (this.#levels.at(-1) ?? this.#sandbox).size;
  }

  /** Returns the number of a row, a new one at first. */
  numberOf(isSandbox: boolean, names: Names): number {
    let number = this.#sandbox.numberOf(isSandbox ? 1 : 0, 0);
    for (const [at, level] of this.#levels.entries())
      number = level.numberOf(number, this.#textOf(names[at] ?? null));
    return number;
  }

  /** Returns the names of a row. */
  namesOf(row: number): Names {
    const names: (string | null)[] = [];
    let number = row;
    for (let at = this.#levels.length - 1; at >= 0; at -= 1) {
      names[at] = this.#texts[this.#levels[at]?.secondOf(number) ?? NaN] ?? null;
      number = this.#levels[at]?.firstOf(number) ?? NaN;
    }
    return names;
  }

  /** Returns one of the names of a row; null where it has not so many. */
  nameAt(row: number, place: number): string | null {
    return this.#texts[this.#levels[place]?.secondOf(this.#numberAt(row, place)) ?? NaN] ?? null;
  }

  /** Returns a number that rows share which have the same first name. The numbers begin at 0. */
  firstOf(row: number): number {
    return this.#numberAt(row, 0);
  }

  /** True for a row of the sandbox. */
  isSandbox(row: number): boolean {
    return this.#sandbox.firstOf(this.#numberAt(row, -1)) === 1;
  }

  /** Returns the number of what a row's names are up to a place. */
  #numberAt(row: number, place: number): number {
    let number = row;
    for (let at = this.#levels.length - 1; at > place; at -= 1)
      number = this.#levels[at]?.firstOf(number) ?? NaN;
    return number;
  }

  #textOf(text: string | null): number {
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.#texts.push(text) - 1;
      this.#numbers.set(text, number);
    }
    return number;
  }
}
