/** At first. Always a power of two, of which half may be in use. */
const PLACES = 128;

/** Gives each pair of numbers a number, from 0 on. A table of numbers, because a year has a million pairs. */
export class PairNumbers {
  #firsts = new Int32Array(PLACES / 2);
  #seconds = new Int32Array(PLACES / 2);
  /** By the hash of a pair: one more than its number; 0 for none. Of two pairs with one place, the later is in the next place that is free. */
  #places = new Int32Array(PLACES);
  #size = 0;

  /** How many pairs have a number. */
  get size(): number {
    return this.#size;
  }

  /** Returns the number of a pair, a new one at first. */
  numberOf(first: number, second: number): number {
    let place = this.#placeOf(first, second);
    const known = (this.#places[place] ?? 0) - 1;
    if (known !== -1) return known;
    if (2 * this.#size === this.#places.length) {
      this.#grow();
      place = this.#placeOf(first, second);
    }
    const number = this.#size;
    this.#size += 1;
    this.#firsts[number] = first;
    this.#seconds[number] = second;
    this.#places[place] = number + 1;
    return number;
  }

  /** Returns the first number of a pair. */
  firstOf(number: number): number {
    return this.#firsts[number] ?? NaN;
  }

  /** Returns the second number of a pair. */
  secondOf(number: number): number {
    return this.#seconds[number] ?? NaN;
  }

  /** Returns the place of a pair, or where it belongs. */
  #placeOf(first: number, second: number): number {
    const last = this.#places.length - 1;
    // Multiplicative hashing (Knuth, "The Art of Computer Programming", 6.4), of which the high bits are the better ones.
    const mixed = Math.imul(Math.imul(first, 0x9e3779b1) + second, 0x85ebca6b);
    for (let place = (mixed ^ (mixed >>> 15)) & last; ; place = (place + 1) & last) {
      const number = (this.#places[place] ?? 0) - 1;
      if (number === -1 || (this.#firsts[number] === first && this.#seconds[number] === second)) return place;
    }
  }

  #grow(): void {
    const places = this.#places.length * 2;
    this.#firsts = enlarge(this.#firsts, places / 2);
    this.#seconds = enlarge(this.#seconds, places / 2);
    this.#places = new Int32Array(places);
    for (let number = 0; number < this.#size; number += 1)
      this.#places[this.#placeOf(this.#firsts[number] ?? 0, this.#seconds[number] ?? 0)] = number + 1;
  }
}

/** Returns an array of so many numbers that begins with these. */
export function enlarge(numbers: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length);
  larger.set(numbers);
  return larger;
}
