import { KeyFailure, type KeyFix } from "../failure.ts";
import type { KeyRef } from "../secrets/key-source.ts";
import type { Refusal, RefusalCode } from "./refusal.ts";
import { quietest } from "./retry-triggers.ts";

const KEY_REFUSALS: Record<KeyFailure["code"], RefusalCode> = {
  missing: "key_missing",
  locked: "key_locked",
  unavailable: "key_unavailable",
  unresponsive: "key_unresponsive",
  unsafe: "key_unavailable",
};

/**
 * The key is not stored, or its store cannot be read. The words for a key that the keychain does not hold are those of {@link noSuchKey}.
 * All others are those of the store: of the keychain in `adapters/keychain/failures.ts`, of a file or a command in `adapters/key-sources`.
 */
export function noKey({ code, message, hint = "", command }: KeyFailure): Refusal {
  const advice = adviceOf(hint, command);
  if (code === "missing")
    return { code: "key_missing", problem: quietest(message, "the key is not stored"), ...advice, command };
  return {
    code: KEY_REFUSALS[code],
    problem: "tollkeeper cannot read the key",
    reason: message,
    ...advice,
    command,
  };
}

/**
 * Returns the failure for a key that the keychain does not hold. keytar reports a locked item in the same way
 * (docs/platform.md section 1); with `mayBeLocked`, the Secret Service could not be asked first, and the message says so.
 */
export function noSuchKey(ref: KeyRef, mayBeLocked: boolean): KeyFailure {
  const message = `no key "${ref.name}" is stored for ${ref.origin}`;
  if (!mayBeLocked) return new KeyFailure("missing", message, withSetCommand(ref, "store it"));
  return new KeyFailure(
    "missing",
    `${message}, or the keychain is locked; without busctl the two cannot be told apart`,
    withSetCommand(ref, "unlock the keychain; or store the key"),
  );
}

/** Returns advice with the command that stores the key. */
export function withSetCommand(ref: KeyRef, advice: string): KeyFix {
  const command = `tollkeeper ${ref.setArguments}`;
  return { hint: `${advice}: ${command}`, command };
}

/** Returns what a hint says besides the command, which is said at the end. A script of several commands is left to doctor. */
function adviceOf(hint: string, command: string): Pick<Refusal, "advice"> {
  const parts = hint.split("; ");
  const script = parts.findIndex((part) => part.includes("sh -c "));
  const others = parts.slice(0, script === -1 ? undefined : script).filter((part) => !part.includes(command));
  return others.length === 0 ? {} : { advice: others.join("; ") };
}
