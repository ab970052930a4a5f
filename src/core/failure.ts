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

/** A {@link Failure} of a key store or key source, told apart by `code`. */
export class KeyFailure extends Failure {
  readonly code: KeyFailureCode;

  constructor(code: KeyFailureCode, message: string, hint: string, options?: ErrorOptions) {
    super(message, hint, options);
    this.code = code;
  }
}
