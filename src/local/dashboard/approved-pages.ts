import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../ports.ts";
import type { RequestedSession } from "./headers.ts";

/** How long a page waits to be approved and a ticket to be exchanged, and how many wait at a time. The oldest gives way. */
const WAITING_MS = 300_000;
const MOST_WAITING = 16;
/** The oldest session ends when there would be more. */
const MOST_SESSIONS = 32;
const SECRET_BYTES = 32;

/** Characters of codes: 32 that cannot be confused. */
const CODE_CHARACTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const CODE_LENGTH = 6;

/** A page that waits. */
interface Waiting {
  /** Of its ticket. */
  hash: string;
  /** Monotonic milliseconds. */
  until: number;
}

/**
 * Who may read the feeds besides those whom the system knows to be us. A page asks for a session. It gets a ticket, and shows the code that
 * belongs to it. Once a person has typed the code into our own command, the page exchanges the ticket for a session. Codes are no secrets:
 * whoever approves one lets in the page that shows it, and no other.
 *
 * Somebody else may have planted a ticket or a session in the page's storage, in order to know what is approved later (session fixation,
 * CWE-384). So a code is told once, with a new ticket; a ticket opens nothing; and the session is made when it is handed out, once. Only
 * hashes are kept, and no restart keeps them.
 */
export class ApprovedPages {
  /** See {@link PAGE_HEADER}. */
  readonly pageKey = makeSecret();
  readonly #pageHash = hashOf(this.pageKey);
  readonly #clock: Clock;
  /** By the code, so that no two wait with the same one. */
  readonly #waiting = new Map<string, Waiting>();
  /** Hashes of the tickets that a person has approved, and until when they can be exchanged. */
  readonly #granted = new Map<string, number>();
  readonly #sessions = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the session if it is valid, or a new one in exchange for a ticket that a person has approved. Returns a ticket that still waits
   * without its code, and a new ticket in place of any other.
   */
  request(session: string | null, ticket: string | null): RequestedSession {
    if (session !== null && this.isValid(session)) return { session, ticket: null, code: null };
    if (ticket !== null) {
      const hash = hashOf(ticket);
      if (this.#takeGranted(hash)) return { session: this.#open(), ticket: null, code: null };
      if (this.#isWaitingWith(hash)) return { session: null, ticket, code: null };
    }
    const [made, code] = [makeSecret(), makeCode()];
    this.#waiting.set(code, { hash: hashOf(made), until: this.#inTime() });
    dropOldest(this.#waiting, MOST_WAITING);
    return { session: null, ticket: made, code };
  }

  /** Lets in the page with this code. False if none waits with it any more. Capitals, spaces and hyphens do not matter. */
  approve(code: string): boolean {
    const typed = formatCode(code.toUpperCase().replaceAll(/[\s-]/g, ""));
    const waiting = this.#waiting.get(typed);
    if (waiting === undefined || !this.#isStillWaiting(waiting.until)) return false;
    this.#waiting.delete(typed);
    this.#granted.set(waiting.hash, this.#inTime());
    dropOldest(this.#granted, MOST_WAITING);
    return true;
  }

  /** True for a session that has not ended. Compares hashes, so that the time it takes says nothing. */
  isValid(session: string): boolean {
    return this.#sessions.has(hashOf(session));
  }

  /** True for the value that only our own page has. */
  isPage(key: string): boolean {
    return hashOf(key) === this.#pageHash;
  }

  /** Ends all sessions, and lets no page in that waits. */
  endAll(): void {
    this.#waiting.clear();
    this.#granted.clear();
    this.#sessions.clear();
  }

  #open(): string {
    const session = makeSecret();
    this.#sessions.add(hashOf(session));
    dropOldest(this.#sessions, MOST_SESSIONS);
    return session;
  }

  #takeGranted(hash: string): boolean {
    const until = this.#granted.get(hash);
    this.#granted.delete(hash);
    return until !== undefined && this.#isStillWaiting(until);
  }

  #isWaitingWith(hash: string): boolean {
    return [...this.#waiting.values()].some((one) => one.hash === hash && this.#isStillWaiting(one.until));
  }

  /** When it is too late for a page that waits from now on. */
  #inTime(): number {
    return this.#clock.monotonic() + WAITING_MS;
  }

  #isStillWaiting(until: number): boolean {
    return this.#clock.monotonic() < until;
  }
}

function makeSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

function makeCode(): string {
  const characters = [...randomBytes(CODE_LENGTH)].map(
    (byte) => CODE_CHARACTERS[byte % CODE_CHARACTERS.length],
  );
  return formatCode(characters.join(""));
}

/** `ABC234` is shown as `ABC-234`. */
function formatCode(characters: string): string {
  return `${characters.slice(0, CODE_LENGTH / 2)}-${characters.slice(CODE_LENGTH / 2)}`;
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64");
}

function dropOldest(all: Map<string, unknown> | Set<string>, most: number): void {
  const [oldest] = all.keys();
  if (all.size > most && oldest !== undefined) all.delete(oldest);
}
