import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../ports.ts";
import type { RequestedSession } from "./headers.ts";

/** How long a session waits to be approved, and how many wait at a time. The oldest gives way. */
const WAITING_MS = 300_000;
const MOST_WAITING = 16;
/** The oldest session ends when there would be more. */
const MOST_SESSIONS = 32;
const SECRET_BYTES = 32;

/** Characters of codes: 32 that cannot be confused. */
const CODE_CHARACTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const CODE_LENGTH = 6;

/** A session that a person has not approved yet. */
interface Waiting {
  hash: string;
  /** Monotonic milliseconds. */
  until: number;
}

/**
 * Who may read the feeds besides those whom the system knows to be us. A page asks for a session and shows the code that belongs to it.
 * The session is worth nothing until a person has typed the code into our own command. Codes are no secrets: whoever approves
 * one lets in the page that shows it, and no other. Only hashes of sessions are kept, and no restart keeps them.
 */
export class DashboardSessions {
  /** See {@link PAGE_HEADER}. */
  readonly pageKey = makeSecret();
  readonly #pageHash = hashOf(this.pageKey);
  readonly #clock: Clock;
  /** By the code, so that no two wait with the same one. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #approved = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns how it stands with a session, or a new one in place of one that has ended, is made up or missing. */
  request(session: string | null): RequestedSession & { session: string } {
    if (session !== null) {
      if (this.isValid(session)) return { session, code: null };
      const code = this.#codeOf(hashOf(session));
      if (code !== null) return { session, code };
    }
    const [made, code] = [makeSecret(), makeCode()];
    this.#waiting.set(code, { hash: hashOf(made), until: this.#clock.monotonic() + WAITING_MS });
    dropOldest(this.#waiting, MOST_WAITING);
    return { session: made, code };
  }

  /** Makes the session with this code valid. False if none waits with it any more. Capitals, spaces and hyphens do not matter. */
  approve(code: string): boolean {
    const typed = formatCode(code.toUpperCase().replaceAll(/[\s-]/g, ""));
    const waiting = this.#waiting.get(typed);
    if (waiting === undefined || !this.#isStillWaiting(waiting)) return false;
    this.#waiting.delete(typed);
    this.#approved.add(waiting.hash);
    dropOldest(this.#approved, MOST_SESSIONS);
    return true;
  }

  /** True for a session that a person has approved and that has not ended. Compares hashes, so that the time it takes says nothing. */
  isValid(session: string): boolean {
    return this.#approved.has(hashOf(session));
  }

  /** True for the value that only our own page has. */
  isPage(key: string): boolean {
    return hashOf(key) === this.#pageHash;
  }

  /** Ends all sessions, also those that wait. */
  endAll(): void {
    this.#waiting.clear();
    this.#approved.clear();
  }

  #codeOf(hash: string): string | null {
    for (const [code, waiting] of this.#waiting)
      if (waiting.hash === hash && this.#isStillWaiting(waiting)) return code;
    return null;
  }

  #isStillWaiting({ until }: Waiting): boolean {
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
