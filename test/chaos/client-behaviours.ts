import { chance, pick, type Random } from "./random.ts";

/** How a client behaves in one exchange. */
export interface ClientBehaviour {
  name: string;
  /** True when it pauses between writes. */
  isSlowWriter: boolean;
  reading: "at once" | "slowly" | "not for a while" | "never";
  /** When and how it disconnects before the response is complete; null when it waits. */
  leaving: {
    when: "while writing" | "while waiting" | "in the response";
    how: "close" | "reset" | "half";
  } | null;
  /** The number of pipelined requests. */
  requests: number;
  isHostile: boolean;
  /** True when it asks for a response that is longer than what everybody between can hold. */
  wantsHugeResponse: boolean;
}

const WAITS = {
  isSlowWriter: false,
  reading: "at once",
  leaving: null,
  requests: 1,
  isHostile: false,
  wantsHugeResponse: false,
} as const;

const LEAVES = (["while writing", "while waiting", "in the response"] as const).flatMap((when) =>
  (["close", "reset", "half"] as const).map((how): [weight: number, ClientBehaviour] => {
    return [5 / 9, { ...WAITS, name: `leaves ${when} (${how})`, leaving: { when, how } }];
  }),
);

const CLIENT_BEHAVIOURS: [weight: number, ClientBehaviour][] = [
  [10, { ...WAITS, name: "plain" }],
  [2, { ...WAITS, name: "slow reader", reading: "slowly" }],
  [1, { ...WAITS, name: "late reader", reading: "not for a while" }],
  [2, { ...WAITS, name: "slow writer", isSlowWriter: true }],
  ...LEAVES,
  [1, { ...WAITS, name: "pipelines", requests: 2 }],
  [2, { ...WAITS, name: "hostile", isHostile: true }],
];

/** A client that reads nothing of a long response until it leaves. It comes in crowds. */
export const NEVER_READS: ClientBehaviour = {
  ...WAITS,
  name: "never reads",
  reading: "never",
  leaving: { when: "while waiting", how: "reset" },
  wantsHugeResponse: true,
};

/** The names of all behaviours. */
export const CLIENT_BEHAVIOUR_NAMES = CLIENT_BEHAVIOURS.map(([, { name }]) => name);

/** A client that sends a request after `connection: close`. It must be refused. */
export const IGNORES_CLOSE: ClientBehaviour = { ...WAITS, name: "ignores `connection: close`" };

/** Draws the behaviour of a client in the nth exchange: each one once in order, then randomly. */
export function drawClientBehaviour(exchange: number, random: Random): ClientBehaviour {
  const behaviour = CLIENT_BEHAVIOURS[exchange]?.[1] ?? pick(random, CLIENT_BEHAVIOURS);
  return behaviour.leaving === null ? behaviour : { ...behaviour, isSlowWriter: chance(random, 0.3) };
}
