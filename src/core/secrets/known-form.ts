// Keys and tokens that can be told by their form alone, and what only stands in the place of one.

/**
 * Secrets that are recognizable without a name: API keys, logins, JSON Web Tokens (RFC 7519), and the tokens of GitHub,
 * GitLab, Hugging Face, npm, Slack, Google, Groq, xAI, Perplexity, Nvidia and Amazon Bedrock.
 */
export const KNOWN_FORM =
  /(?<![\w-])(?:sk-(?=[\w-]*\d)[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|(?:gh[oprsu]_|github_pat_|glpat-|hf_|npm_|xox[abeprs]-|AIza|ya29\.|gsk_|xai-|pplx-|nvapi-)[\w.-]{16,}|(?:ABSK|bedrock-api-key-)[\w+/]{24,}=*)/g;

/** No key that {@link KNOWN_FORM} matches is shorter. Nearly all texts of a request are. */
const MIN_KNOWN_LENGTH = 19;

/** True for a text with a key or a token that can be told by its form alone, and is no placeholder. */
export function hasKnownSecret(text: string): boolean {
  if (text.length < MIN_KNOWN_LENGTH || text.search(KNOWN_FORM) === -1) return false;
  return [...text.matchAll(KNOWN_FORM)].some(([secret]) => !isPlaceholder(secret));
}

/** Replaces every key and token that can be told by its form alone. */
export function replaceKnownSecrets(text: string, replacement: string): string {
  return hasKnownSecret(text) ? text.replaceAll(KNOWN_FORM, replacement) : text;
}

/** Placeholders for a key, and references to a key that is stored elsewhere. */
const PLACEHOLDER = /placeholder|dummy|example|tollkeeper|changeme|your[-_ ]|^tk-|^[$`~./<{]|:\/\//i;

/** True for a placeholder, and for a reference to a key that is stored elsewhere. */
export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value);
}
