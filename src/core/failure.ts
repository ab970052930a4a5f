import { describeError, UNNAMED_CODES } from "./system-error.ts";

/**
 * An expected failure, reported to a person: `message` says what is wrong, `hint` names the next command. Both in lower case
 * without a full stop; the CLI prints them as `error:` and `hint:` lines.
 */
export class Failure extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.hint = hint;
  }
}

/**
 * Why a key could not be read or stored.
 * - `missing`: the store responded that it has no such key
 * - `locked`: the store is locked, and no user can be asked to unlock it
 * - `unavailable`: the store cannot be reached (no library, no bus, no provider, no such file, a failing command)
 * - `unresponsive`: the store did not respond in time
 * - `unsafe`: other users can read the source, so it is refused
 */
export type KeyFailureCode = "missing" | "locked" | "unavailable" | "unresponsive" | "unsafe";

/** What to do about a {@link KeyFailure}: the whole advice, and the command in it to type first. */
export interface KeyFix {
  hint: string;
  command: string;
}

/** A {@link Failure} to read or store a key. Clients see message and hint; only the owner of the key may see `detail`. */
export class KeyFailure extends Failure {
  readonly code: KeyFailureCode;
  /** What the user of a client is told to type. `doctor`, which prints the hint, if the hint has no short command. */
  readonly command: string;
  /** For example, a command's name and the last line that it printed. */
  readonly detail: string | undefined;

  constructor(
    code: KeyFailureCode,
    message: string,
    fix: string | KeyFix,
    options: ErrorOptions & { detail?: string } = {},
  ) {
    const { hint, command } = typeof fix === "string" ? { hint: fix, command: "tollkeeper doctor" } : fix;
    super(message, hint, options);
    this.code = code;
    this.command = command;
    this.detail = options.detail;
  }

  /** The message with its detail. For the owner's terminal, never for a client. */
  get messageForOwner(): string {
    return this.detail === undefined ? this.message : `${this.message} (${this.detail})`;
  }
}

/** Returns the message of a thrown value of any type. Of an error of the system it says what could not be done to which file, and why. */
export function messageOf(error: unknown): string {
  return describeError(error);
}

/** True for an error of the system or of Node with this code, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}

/** Returns the code of an error: the system's, Node's, OpenSSL's or a parser's. Unlike the message it contains no addresses. */
export function codeOf(error: unknown): string | null {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : null;
  return typeof code === "string" ? (UNNAMED_CODES[code] ?? code) : null;
}
