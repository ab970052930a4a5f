import type { NextAttempt } from "./attempts.ts";
import type { Exchange } from "./exchange.ts";
import type { RoundTrip } from "./round-trip.ts";

/** An attempt that is under way. */
export interface SentAttempt {
  exchange: Exchange;
  roundTrip: RoundTrip;
}

/** {@link NextAttempt}, and its headers where they are signed; else null. */
export interface PreparedAttempt extends NextAttempt {
  signed: string[] | null;
}

/** How an attempt follows another. */
interface Steps {
  /** Prepares the attempt after this one. Resolves with null when there is none. Never rejects. */
  prepare(exchange: Exchange, result: string): Promise<PreparedAttempt | null>;
  /** Opens its exchange and sends it. Returns null where it was refused, which ends the request. */
  send(next: PreparedAttempt): SentAttempt | null;
}

/**
 * Asks one upstream after the other, as long as each has done nothing with the request. Each turn of the loop is one attempt. What
 * outlives a turn is in `Attempts`, and so is the rule when another may follow. Never rejects.
 */
export async function askInTurn(first: SentAttempt, steps: Steps): Promise<void> {
  for (let attempt: SentAttempt | null = first; attempt !== null;) {
    const { exchange, roundTrip }: SentAttempt = attempt;
    const result = await roundTrip.nothingDone;
    // It has ended: with the upstream's response, or with a refusal.
    if (result === null) return;
    const next = await steps.prepare(exchange, result);
    // Meanwhile it has gone on by itself: the client has left, its body was refused, or the daemon is stopping.
    if (!roundTrip.isOnOffer) return;
    if (next === null) {
      roundTrip.keepClient();
      return;
    }
    roundTrip.leaveClient();
    attempt = steps.send(next);
  }
}
