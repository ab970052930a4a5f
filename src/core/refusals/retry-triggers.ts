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

/** Returns the first of these texts, which say the same in ever fewer words, at which no tool would try again; else the last. */
export function quietest(...texts: readonly [string, ...string[]]): string {
  return texts.find((text) => !provokesRetry(text)) ?? texts.at(-1) ?? texts[0];
}

/** Returns a text of a refusal, `; ` between its parts, without the parts at which a tool would try again; undefined if none is left. */
export function withoutTriggers(text: string | undefined): string | undefined {
  if (text === undefined || !provokesRetry(text)) return text;
  const parts = text.split("; ").filter((part) => !provokesRetry(part));
  return parts.length === 0 ? undefined : parts.join("; ");
}
