import { homeDirectory } from "../../../adapters/paths.ts";
import { isPath } from "../../../core/ledger/grouping.ts";
import type { AccountStatus, WindowStatus } from "../../../core/limits/account-limits.ts";
import { MOVERS, type MovedBy, type Mover } from "../../../core/limits/moved-by.ts";
import type { Moved } from "../../limits/format-limits.ts";
import { displayPath } from "../../terminal/format.ts";

/** A window with what has moved it; null where it is not known when it began, and where nothing has passed since. */
type MovedWindow = WindowStatus & { movedBy: MovedBy | null };

/** An account whose windows say what has moved them. */
export interface MovedAccount extends AccountStatus {
  windows: MovedWindow[];
}

/** As many names as a line has room for. */
const MOST_NAMES = 3;

/** Says who moved a window, for tools, projects and sessions: `claude-code 81%`, `nightly 19%`. */
export function listMovers(movedBy: MovedBy | null): Moved[] {
  if (movedBy === null) return [];
  const known = MOVERS.filter((mover) => movedBy[mover].some(({ name }) => name !== null));
  return known.map((mover) => ({ by: mover, names: listNames(mover, movedBy[mover]) }));
}

function listNames(mover: (typeof MOVERS)[number], names: readonly Mover[]): string[] {
  const shown = names.slice(0, MOST_NAMES).map(({ name, sharePercent }) => {
    const written = name === null ? `no ${mover}` : isPath(mover) ? displayPath(name, homeDirectory()) : name;
    return `${written} ${writeShare(sharePercent)}`;
  });
  const rest = names.slice(MOST_NAMES);
  if (rest.length === 0) return shown;
  const others = rest.reduce((sum, { sharePercent }) => sum + sharePercent, 0);
  return [...shown, `${rest.length} more ${writeShare(others)}`];
}

function writeShare(percent: number): string {
  return percent < 1 ? "<1%" : `${Math.round(percent)}%`;
}
