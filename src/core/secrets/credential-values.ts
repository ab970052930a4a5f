import { decodePercent } from "../text/decode-percent.ts";
import { hasKnownSecret } from "./known-form.ts";
import { hasLocalToken, redactLocalTokens } from "./local-token.ts";
import { redactSecrets } from "./redact-text.ts";

// The one rule for values that are credentials whatever their name (SECURITY.md C3 and E6): a client's library, or a setting that somebody
// has mistyped, may send a key where no rule for names expects one. core/http/credential-names.ts has those.

/** A server decodes a value once, and a gateway in front of it may do so before. */
const MAX_DECODINGS = 2;

/** True for a text with a local token or a key that can be told by its form, as it is or percent-encoded. */
export function holdsCredential(text: string): boolean {
  return isInSomeDecoding(text, isCredentialIn);
}

/** True for a text with a local token, as it is or percent-encoded. */
export function holdsLocalToken(text: string): boolean {
  return isInSomeDecoding(text, hasLocalToken);
}

/** Replaces by asterisks what {@link holdsCredential} finds: all of a text in which it is percent-encoded. Keeps the length. */
export function redactCredentials(text: string): string {
  if (!holdsCredential(text)) return text;
  const redacted = redactLocalTokens(redactSecrets(text, []));
  return holdsCredential(redacted) ? "*".repeat(text.length) : redacted;
}

function isCredentialIn(text: string): boolean {
  return hasKnownSecret(text) || hasLocalToken(text);
}

function isInSomeDecoding(text: string, isIn: (decoded: string) => boolean): boolean {
  let decoded = text;
  for (let left = MAX_DECODINGS; !isIn(decoded); left -= 1) {
    const next = decodePercent(decoded);
    if (left === 0 || next === decoded) return false;
    decoded = next;
  }
  return true;
}
