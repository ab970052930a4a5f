/** Text in UTF-8 usually has more bytes for each token: prose 4 and more, program code and Chinese 3. */
const BYTES_PER_TOKEN = 3;

/** Returns how many tokens so many bytes of JSON may be; more often too many than too few. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
