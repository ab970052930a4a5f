// The one rule for names of credentials, in headers and queries (SECURITY.md C3). It goes by the name only, so that the key of a
// service that we do not know is not forwarded either. test/core/http/credential-names.test.ts has the names.

/**
 * Joins the words of a name by dashes, in lower case: servers read `X.Api_Key` as `x-api-key`, and `auth[token]` as a name in `auth`.
 * Some fold the case and the width of all of Unicode, in which the sign of Kelvin is a `k`.
 */
export function foldName(name: string): string {
  return name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

/** True for a folded name that is, or could be, a credential's. */
export function namesCredential(folded: string): boolean {
  if (!SECRET.test(folded)) return false;
  if (folded.length > MAX_HARMLESS_LENGTH) return true;
  return SECRET.test(folded.replaceAll(HARMLESS, "-"));
}

/** Longer than any name that needs to be told from a credential's: {@link HARMLESS} is slow for hostile ones. */
const MAX_HARMLESS_LENGTH = 100;

/** Words that say how many tokens of a model. */
const MEASURE =
  "(?:max|min|num|total|input|output|prompt|completion|response|reasoning|thinking|cached?|remaining|used|new|limit|budget|estimated|text|audio|image)";

/** Tokens of models and of lists, and keys that open nothing. */
const HARMLESS = new RegExp(
  String.raw`(?<![^-])(?:${[
    "(?:idempotency|cache|sort|order|partition)-?keys?",
    "(?:(?:next|prev|previous)-?)?page-?token",
    "(?:next|prev|previous|continuation|cursor|pagination)-?token",
    "(?:bos|eos|pad|start|stop)-?tokens?",
    `${MEASURE}(?:-?${MEASURE})*-?tok(?:ens)?`,
    "tokens?-?(?:count|limit|budget|usage|estimate|total|size|window)s?",
    "tokens-per-(?:second|minute|day)",
  ].join("|")})(?![^-])`,
  "g",
);

/** Secrets wherever they are in a word: `clientsecret`, `x-auth-v2`. But not `author`, `secretary` or `tokenizer`. */
const PARTS = [
  "auth(?!or(?!i[sz]))",
  "token(?!i[sz])",
  "secret(?!ar)",
  "passw",
  "passphrase",
  "passcode",
  "contrase",
  "credential",
  "cookie",
  "bearer",
  "signature(?!-version)",
  "assertion",
  "(?:api|access|secret|private)-?key",
  "(?:j|php|asp|asp-?net-?)sess(?:ion)?",
];

/** Secrets that are words of their own, or the end of one. */
const WORDS = [
  String.raw`[a-z\d]*key(?:s|ids?|values?)?(?:v?\d+)?`,
  String.raw`(?:[a-z]*pwd?|jw[est]|dpop|hmac|psk|t?otp|mfa|csrf|xsrf|creds?|sig|sas|pat)\d*`,
  "[a-z]*(?<!by|com|over|sur|tres|under)pass(?!-?th)",
  "(?:connect-)?sid",
  "cfid",
  "remote-user",
  "(?:api)?tok",
  "saml(?:request|response|art)?",
  "oidc",
  "access-client-id",
  "code-verifier",
];

/** Secrets that are the last word of a name. */
const LAST_WORDS = ["sign", "pin"];

/**
 * Secrets that are a name of their own. With other words around them they are none: `session-id` is a conversation's, and
 * `status-code` opens nothing.
 */
const NAMES = [
  "(?:(?:access|device|user|security|verification)-?)?code",
  "session(?:id)?",
  "ticket",
  "licen[cs]e",
  "[as]k",
  "(?:bf-)?vk",
];

const SECRET = new RegExp(
  [
    ...PARTS,
    `(?<![^-])(?:${WORDS.join("|")})(?![^-])`,
    `(?<![^-])(?:${LAST_WORDS.join("|")})$`,
    `^(?:x-)?(?:${NAMES.join("|")})$`,
  ].join("|"),
);
