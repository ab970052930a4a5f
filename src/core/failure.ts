/**
 * An expected failure, told to a person: `message` says what is wrong, `hint` names the next command.
 * Both in lower case without a full stop; the CLI prints them as `error:` and `hint:` lines.
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
 * Why a key could not be had or stored.
 * - `missing`: the store answered, and it holds no such key
 * - `locked`: the store is there but closed, and nobody can be asked to open it
 * - `unavailable`: no store can be reached (no library, no bus, no provider, no such file, a failing command)
 * - `unresponsive`: the store did not answer in time
 * - `unsafe`: the source may be read by others, and is refused for it
 */
export type KeyFailureCode = "missing" | "locked" | "unavailable" | "unresponsive" | "unsafe";

/**
 * A {@link Failure} of a key store or key source, told apart by `code`. Clients get its message and hint, so what only
 * the owner of the key may read is kept apart from them, in `detail`.
 */
export class KeyFailure extends Failure {
  readonly code: KeyFailureCode;
  /** A command's name and its last words, say. */
  readonly detail: string | undefined;

  constructor(
    code: KeyFailureCode,
    message: string,
    hint: string,
    options: ErrorOptions & { detail?: string } = {},
  ) {
    super(message, hint, options);
    this.code = code;
    this.detail = options.detail;
  }

  /** The message with its detail: for the terminal of the key's owner, never for a client. */
  get messageForOwner(): string {
    return this.detail === undefined ? this.message : `${this.message} (${this.detail})`;
  }
}
