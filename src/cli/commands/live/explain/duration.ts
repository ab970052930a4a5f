import { formatSeconds } from "../request-row.ts";

/** Returns milliseconds as e.g. `840 ms` or `14.2 s`. */
export function formatDuration(ms: number): string {
  return ms < 999.5 ? `${Math.round(ms)} ms` : formatSeconds(ms);
}
