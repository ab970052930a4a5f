import type { Limits } from "../feed-types.ts";
import { formatNear, formatShare } from "../numbers.ts";
import { nameGroup } from "../project-names.ts";

type MovedBy = NonNullable<Limits["accounts"][number]["windows"][number]["moved_by"]>;

const MOVERS = ["tool", "project", "session"] as const;

/** As many names as a line has room for. */
const MOST_NAMES = 3;

/**
 * Says who used a window since it began, by the tokens that passed: `Tokens since 11:40: tool codex 81%, zed 19%; project …`. It never has a
 * command in it, because names may be anybody's.
 */
export function describeMovers(moved: MovedBy): string {
  const known = MOVERS.filter((mover) => moved[mover].some(({ name }) => name !== null));
  const parts = known.map((mover) => `${mover} ${listNames(mover, moved[mover])}`);
  return `Tokens since ${formatNear(moved.since)}: ${parts.join("; ")}. The service may count in another way`;
}

function listNames(mover: string, movers: MovedBy["tool"]): string {
  const shown = movers
    .slice(0, MOST_NAMES)
    .map(
      ({ name, share_percent: share }) =>
        `${name === null ? `no ${mover}` : nameGroup(mover, name)} ${formatShare(share, 100)}`,
    );
  const rest = movers.slice(MOST_NAMES);
  const others = rest.reduce((sum, { share_percent: share }) => sum + share, 0);
  return [...shown, ...(rest.length === 0 ? [] : [`${rest.length} more ${formatShare(others, 100)}`])].join(
    ", ",
  );
}
