import type { KeyFailure } from "../failure.ts";
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
 * The key is not stored, or its store cannot be read. The words are those of the store: of the keychain in
 * `adapters/keychain/failures.ts`, of a file or a command in `adapters/key-sources`.
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

/** Returns what a hint says besides the command, which is said at the end. A script of several commands is left to doctor. */
function adviceOf(hint: string, command: string): Pick<Refusal, "advice"> {
  const parts = hint.split("; ");
  const script = parts.findIndex((part) => part.includes("sh -c "));
  const others = parts.slice(0, script === -1 ? undefined : script).filter((part) => !part.includes(command));
  return others.length === 0 ? {} : { advice: others.join("; ") };
}
