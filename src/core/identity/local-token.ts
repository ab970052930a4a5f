/*
 * What a local token looks like: `tollkeeper-TOOL-RANDOM`, so that people see what it is, and whose, wherever they find
 * it. What proves it is made in proxy/token-secret.ts.
 */

const PREFIX = "tollkeeper-";

/** 256 random bits as base64url has them. */
const RANDOM_LENGTH = 43;

const LONGEST_NAME = 64;

/** Longest text that can be one, in characters. */
const LONGEST = PREFIX.length + LONGEST_NAME + 1 + RANDOM_LENGTH;

/** The token of a tool. `random` is 256 bits as base64url. */
export function writeToken(tool: string, random: string): string {
  return `${PREFIX}${tool}-${random}`;
}

/** Is it worth asking whether this is a registered token? Told by what everybody knows of one, never by its secret. */
export function mayBeToken(text: string): boolean {
  return text.length <= LONGEST && text.startsWith(PREFIX);
}

const TOKEN = new RegExp(
  String.raw`(${PREFIX}[a-z0-9._-]{1,${LONGEST_NAME}}-)[\w-]{${RANDOM_LENGTH}}(?![\w-])`,
  "g",
);

/** Every token in a text, registered or not. */
export function tokensIn(text: string): string[] {
  return [...text.matchAll(TOKEN)].map(([token]) => token);
}

/** `text` with the secret part of every token replaced by asterisks: what may be shown. */
export function redactTokens(text: string): string {
  return text.replaceAll(TOKEN, (_, known: string) => known + "*".repeat(RANDOM_LENGTH));
}
