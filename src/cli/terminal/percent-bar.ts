const CELLS = 10;

/** Draws how much of something is used: `██████░░░░`. What is used beyond it is not drawn. */
export function drawPercent(percent: number): string {
  const full = Math.max(0, Math.min(CELLS, Math.floor((percent * CELLS) / 100)));
  return "█".repeat(full) + "░".repeat(CELLS - full);
}
