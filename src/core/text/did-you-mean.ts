/** Nobody mistypes a longer word, and comparing two takes time by the product of their lengths. */
const MAX_LENGTH = 64;

/** Returns the candidate closest to `word`, ignoring case; null when none is close. */
export function findNearest(word: string, candidates: readonly string[]): string | null {
  if (word.length > MAX_LENGTH) return null;
  let best: string | null = null;
  // With more than a third of the letters wrong, a guess misleads as often as it helps.
  let allowed = Math.max(1, Math.floor(word.length / 3));
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > allowed) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), allowed);
    if (distance > allowed) continue;
    best = candidate;
    allowed = distance - 1;
  }
  return best;
}

/**
 * Counts the insertions, deletions, replacements and swaps of neighbours from `from` to `to` (optimal string alignment).
 * Returns Infinity as soon as it is clear that there are more than `limit`.
 */
function editDistance(from: string, to: string, limit: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  let leastOfLast = 0;
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (last[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = i > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwap ? (beforeLast[j - 2] ?? 0) + 1 : replaced;
      const distance = Math.min(replaced, swapped, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      row.push(distance);
      least = Math.min(least, distance);
    }
    // Two rows, because a swap continues from the one before the last.
    if (Math.min(leastOfLast, least) > limit) return Infinity;
    beforeLast = last;
    last = row;
    leastOfLast = least;
  }
  return last[to.length] ?? 0;
}
