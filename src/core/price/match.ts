/** A rule for names, in lower case. */
export type Match =
  | { equals: string }
  | { starts_with: string }
  | { ends_with: string }
  | { contains: string }
  | { regex: string }
  | { or: readonly Match[] }
  | { and: readonly Match[] };

/** The rest of a name that continues with another version: `claude-sonnet-5-5` is not a `claude-sonnet-5`. Dates are longer. */
const LATER_VERSION = /^[-.]\d{1,2}(?!\d)/;

/**
 * True when a name fits. A name that only starts with the wanted one must not go on with another version number, because a later
 * model has prices of its own.
 */
export function matches(rule: Match, name: string): boolean {
  if ("equals" in rule) return name === rule.equals.toLowerCase();
  if ("starts_with" in rule) return startsWith(name, rule.starts_with.toLowerCase());
  if ("ends_with" in rule) return name.endsWith(rule.ends_with.toLowerCase());
  if ("contains" in rule) return name.includes(rule.contains.toLowerCase());
  if ("regex" in rule) return new RegExp(rule.regex).test(name);
  if ("or" in rule) return rule.or.some((one) => matches(one, name));
  return rule.and.every((one) => matches(one, name));
}

function startsWith(name: string, start: string): boolean {
  return name.startsWith(start) && !(/\d$/.test(start) && LATER_VERSION.test(name.slice(start.length)));
}
