import { chance, pick, type Random } from "./random.ts";

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

const LEAVERS = (["while writing", "while waiting", "in the answer"] as const).flatMap((when) =>
  (["close", "reset", "half"] as const).map((how): [weight: number, Manner] => {
    return [5 / 9, { ...STAYS, name: `leaves ${when} (${how})`, leaving: { when, how } }];
  }),
);

const MANNERS: [weight: number, Manner][] = [
  [10, { ...STAYS, name: "honest" }],
  [2, { ...STAYS, name: "slow reader", reading: "slowly" }],
  [1, { ...STAYS, name: "late reader", reading: "not for a while" }],
  [2, { ...STAYS, name: "slow writer", isSlowWriter: true }],
  ...LEAVERS,
  [1, { ...STAYS, name: "pipelines", requests: 2 }],
  [2, { ...STAYS, name: "hostile", isHostile: true }],
];

/** The names of all that are drawn. */
export const MANNER_NAMES = MANNERS.map(([, { name }]) => name);

/** A client that did not hear that the connection was to be closed: nothing that it sends may be worked on. */
export const DEAF: Manner = { ...STAYS, name: "deaf to `connection: close`" };

/** A client's manner for the exchange of this number: each kind once, then as it comes. */
export function drawManner(exchange: number, random: Random): Manner {
  const manner = MANNERS[exchange]?.[1] ?? pick(random, MANNERS);
  return manner.leaving === null ? manner : { ...manner, isSlowWriter: chance(random, 0.3) };
}
