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

/** The key is not stored, or its store cannot be read. */
export function noKey({ code, message, hint = "", command }: KeyFailure): Refusal {
  // To store a missing key is all that its hint says.
  if (code === "missing")
    return { code: "key_missing", problem: quietest(message, "the key is not stored"), command };
  // What the command says is said at the end, and a script of several commands by doctor.
  const parts = hint.split("; ");
  const script = parts.findIndex((part) => part.includes("sh -c "));
  const others = parts.slice(0, script === -1 ? undefined : script).filter((part) => !part.includes(command));
  return {
    code: KEY_REFUSALS[code],
    problem: "tollkeeper cannot read the key",
    reason: message,
    ...(others.length > 0 && { advice: others.join("; ") }),
    command,
  };
}
