import { looksLikeKey } from "../../core/config/problem.ts";
import { extractKey } from "../../core/secrets/detect-key.ts";
import { hasKnownSecret } from "../../core/secrets/known-form.ts";
import { WrongUsage } from "../wrong-usage.ts";

/** The option or the variable in front of a value: `--key=`, `OPENAI_API_KEY=`. */
const NAME = /^[\w-]+=/;

/** True for an argument that is, or contains, an API key by its form alone: nothing else looks like that. */
export function holdsKey(word: string): boolean {
  return extractKey("", word) !== null || hasKnownSecret(word);
}

/** The form of a record's id, and of most sessions'. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** True for an argument that may be an API key: a long name may look alike. */
export function mayBeKey(word: string): boolean {
  return holdsKey(word) || (!UUID.test(word) && looksLikeKey(word.replace(NAME, "")));
}

/**
 * Returns the error for a key on the command line. It never repeats the key: the terminal's log may be kept, too.
 * @param command the first word of the command line, if that is known
 */
export function keyAsArgument(command?: string): WrongUsage {
  // The upstream that the key is for has to be there before the key.
  const next = command === "setup" ? "tollkeeper setup" : "tollkeeper key set";
  return new WrongUsage(
    "an argument looks like an API key, and every program on this machine can read arguments",
    `the key is now in your shell's history: revoke it, or at least clear the history. Then type: ${next}, and paste the new key when you are asked for it`,
  );
}
