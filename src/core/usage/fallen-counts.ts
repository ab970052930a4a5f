import type { JsonObject } from "../json.ts";
import { asCount } from "./fields.ts";
import type { Flag } from "./reading.ts";

/**
 * What the counts of a stream contradict. They are cumulative, so they never fall (docs/wire.md section 9): where a later figure is lower,
 * the service has said two things of which one is wrong, and nothing says which.
 */
export class FallenCounts {
  readonly flags = new Set<Flag>();
  #earlier: Record<string, number> | null = null;

  /** The higher figures, by the service's names; null where none fell. */
  get earlier(): Readonly<Record<string, number>> | null {
    return this.#earlier;
  }

  /**
   * Resolves a fall of the sum of some counts, whose values were `before` until `fields` took over later ones. A zero that replaced a count
   * while no other grew is filler: the count is restored. Otherwise the later figure counts, and the higher one is kept beside it.
   */
  resolve(fields: JsonObject, names: readonly string[], before: readonly number[]): void {
    const after = readCounts(fields, names);
    if (sum(after) >= sum(before)) return;
    const hasGrown = after.some((count, i) => count > (before[i] ?? 0));
    for (const [i, name] of names.entries()) {
      const was = before[i] ?? 0;
      const is = after[i] ?? 0;
      if (is >= was) continue;
      if (is === 0 && !hasGrown) {
        fields[name] = was;
        this.flags.add("delta_zero_placeholder");
      } else {
        this.#earlier ??= {};
        this.#earlier[name] = Math.max(this.#earlier[name] ?? 0, was);
        this.flags.add("counts_fell");
      }
    }
  }

  /** Forgets everything, because another message begins. */
  reset(): void {
    this.flags.clear();
    this.#earlier = null;
  }
}

/** Returns counts by their names; 0 for one that is missing. */
export function readCounts(fields: JsonObject, names: readonly string[]): number[] {
  return names.map((name) => asCount(fields[name]) ?? 0);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
