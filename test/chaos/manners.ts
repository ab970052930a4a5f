import { chance, oneOf, pick, type Random } from "./random.ts";

/** How a client behaves in one exchange. */
export interface Manner {
  name: string;
  /** Pauses between the pieces of what it writes, or of what it reads. */
  isSlowWriter: boolean;
  reading: "at once" | "slowly" | "not for a while";
  /** When and how it leaves before the answer is complete; null: it stays. */
  leaving: {
    when: "while writing" | "while waiting" | "in the answer";
    how: "close" | "reset" | "half";
  } | null;
  /** Requests written at once on one connection. */
  requests: number;
  isHostile: boolean;
}

const STAYS = {
  isSlowWriter: false,
  reading: "at once",
  leaving: null,
  requests: 1,
  isHostile: false,
} as const;

const MANNERS: [weight: number, draw: (random: Random) => Manner][] = [
  [10, () => ({ ...STAYS, name: "honest" })],
  [2, () => ({ ...STAYS, name: "slow reader", reading: "slowly" })],
  [1, () => ({ ...STAYS, name: "late reader", reading: "not for a while" })],
  [2, () => ({ ...STAYS, name: "slow writer", isSlowWriter: true })],
  [5, leaver],
  [1, () => ({ ...STAYS, name: "pipelines", requests: 2 })],
  [2, () => ({ ...STAYS, name: "hostile", isHostile: true })],
];

/** A client that did not hear that the connection was to be closed: nothing that it sends may be worked on. */
export const DEAF: Manner = { ...STAYS, name: "deaf to `connection: close`" };

/** Draws a client's manner for one exchange. */
export function drawManner(random: Random): Manner {
  return pick(random, MANNERS)(random);
}

function leaver(random: Random): Manner {
  const when = oneOf(random, ["while writing", "while waiting", "in the answer"] as const);
  const how = oneOf(random, ["close", "reset", "half"] as const);
  const isSlowWriter = chance(random, 0.3);
  return { ...STAYS, name: `leaves ${when} (${how})`, isSlowWriter, leaving: { when, how } };
}
