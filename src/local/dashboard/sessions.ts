import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../ports.ts";

/** How long a ticket can be exchanged, and how many there are at a time. */
const TICKET_MS = 60_000;
const MOST_TICKETS = 16;
/** The oldest session ends when there would be more. */
const MOST_SESSIONS = 32;
const SECRET_BYTES = 32;

/**
 * Who may read the feeds besides those whom the system knows to be us. A ticket is in the URL that `tollkeeper dashboard` opens, can be
 * exchanged once, and so is worth nothing in a browser's history. Only hashes are kept, and no restart keeps them.
 */
export class DashboardSessions {
  readonly #clock: Clock;
  /** When each ends to be valid, by the ticket's hash. Monotonic milliseconds. */
  readonly #tickets = new Map<string, number>();
  readonly #sessions = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a new ticket. */
  issueTicket(): string {
    const ticket = makeSecret();
    this.#tickets.set(hashOf(ticket), this.#clock.monotonic() + TICKET_MS);
    dropOldest(this.#tickets, MOST_TICKETS);
    return ticket;
  }

  /** Ends a ticket, and returns the session that it is worth; null for one that is worth none. */
  exchange(ticket: string): string | null {
    const hash = hashOf(ticket);
    const validUntil = this.#tickets.get(hash) ?? -Infinity;
    this.#tickets.delete(hash);
    if (this.#clock.monotonic() >= validUntil) return null;
    const session = makeSecret();
    this.#sessions.add(hashOf(session));
    dropOldest(this.#sessions, MOST_SESSIONS);
    return session;
  }

  /** True for a session that has not ended. Compares hashes, so that the time it takes says nothing. */
  isValid(session: string): boolean {
    return this.#sessions.has(hashOf(session));
  }

  /** Ends all sessions and tickets. */
  endAll(): void {
    this.#tickets.clear();
    this.#sessions.clear();
  }
}

function makeSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64");
}

function dropOldest(all: Map<string, unknown> | Set<string>, most: number): void {
  const [oldest] = all.keys();
  if (all.size > most && oldest !== undefined) all.delete(oldest);
}
