import { RETRY } from "./limit-names.ts";
import type { SeenWindow } from "./limit-warnings.ts";

/** The windows of an account by their names. */
export type Windows = ReadonlyMap<string, SeenWindow>;

/** A window of which less is left than a brake keeps. */
export interface LowWindow {
  window: string;
  /** What is left, in percent: 0 where more is used than there was. */
  leftPercent: number;
  /** When it resets; milliseconds since 1970. */
  resetsAt: number;
}

/** Windows of which nothing can be kept: how long to wait, and use beyond a plan, which begins where the plan has ended. */
const NOT_KEPT: ReadonlySet<string> = new Set([RETRY, "overage"]);

/**
 * Returns the window of which less than `keep` percent is left, by the last response that said so; null without one. Of several, the one
 * that resets last. What is not known refuses nothing: a window whose share or reset no response has said, and one that has reset.
 */
export function findLow(windows: Windows | undefined, keep: number, now: number): LowWindow | null {
  let low: LowWindow | null = null;
  for (const { window, usedPercent, resetsAt } of windows?.values() ?? []) {
    if (usedPercent === null || resetsAt === null || resetsAt <= now || NOT_KEPT.has(window)) continue;
    const leftPercent = Math.max(0, Math.round((100 - usedPercent) * 100) / 100);
    if (leftPercent < keep && (low === null || resetsAt > low.resetsAt))
      low = { window, leftPercent, resetsAt };
  }
  return low;
}
