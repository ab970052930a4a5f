/** The date of a version: `-20250929`, `-2025-08-07` or `@20250929`. */
const DATE = /[-@](?:20\d{6}|20\d\d-\d\d-\d\d)$/;

/**
 * Returns what the names of one model have in common: `claude-sonnet-4-5` for `claude-sonnet-4-5-20250929`, `Claude Sonnet 4.5`,
 * `anthropic/claude-sonnet-4.5` and `claude-sonnet-4-5-latest`.
 */
export function commonName(model: string): string {
  return model
    .toLowerCase()
    .replace(/^.*\//, "")
    .replace(/\[[^\]]*\]$/, "")
    .replace(/-latest$/, "")
    .replace(DATE, "")
    .replaceAll(/[ .]/g, "-");
}
