/**
 * What opencode and Kilo take, anywhere in an error's message or body, as a reason to send the request again, up to five more times,
 * whatever the status and `x-should-retry` say (opencode 1.18.33, docs/wire.md section 4).
 */
const TRIGGERS: readonly RegExp[] = [
  /429|500|502|503|504|524/,
  /rate increased too quickly|rate[-_ ]limit|too many requests/i,
  /overloaded|service[-_ ]unavailable|internal[-_ ]error|(?:internal )?server[-_ ]error|provider[-_ ]returned[-_ ]error/i,
  /terminated|fetch failed|failed to fetch|network[-_\s]error|upstream connect|connection (?:error|refused|lost)/i,
  /socket connection was closed|socket hang up|reset before headers/i,
  /getaddrinfo|enotfound|eai_again|econnrefused|econnreset|etimedout/i,
  /^timeout$|\b(?:request|response|connection|network|stream|read) (?:timeout|timed out|time out)\b/i,
  /try your request again|retry your request|resource[ _]exhausted/i,
  /\btry again (?:later|in\b)|\b(?:currently|temporarily) at capacity\b/i,
];

/** True for a text at which a tool would send the refused request again. */
export function provokesRetry(text: string): boolean {
  return TRIGGERS.some((trigger) => trigger.test(text));
}

/** Returns the details of a refusal, `; ` between its parts, without the parts at which a tool would try again; undefined if none is left. */
export function withoutTriggers(details: string | undefined): string | undefined {
  if (details === undefined || !provokesRetry(details)) return details;
  const parts = details.split("; ").filter((part) => !provokesRetry(part));
  return parts.length === 0 ? undefined : parts.join("; ");
}
