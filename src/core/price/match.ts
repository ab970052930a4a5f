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
 * True when a name fits. What a rule finds in a name must not go on there with another version number, because a later model has
 * prices of its own.
 */
export function matches(rule: Match, name: string): boolean {
  if ("equals" in rule) return name === rule.equals.toLowerCase();
  if ("starts_with" in rule) {
    const start = rule.starts_with.toLowerCase();
    return name.startsWith(start) && !isCutShort(name, start.length);
  }
  if ("ends_with" in rule) return name.endsWith(rule.ends_with.toLowerCase());
  if ("contains" in rule) return contains(name, rule.contains.toLowerCase());
  if ("regex" in rule) {
    const found = new RegExp(rule.regex).exec(name);
    // A rule that ends with any digit has only begun to read a date.
    const isOpen = found?.[0] === "" || rule.regex.endsWith(String.raw`\d`);
    return found !== null && (isOpen || !isCutShort(name, found.index + found[0].length));
  }
  if ("or" in rule) return rule.or.some((one) => matches(one, name));
  return rule.and.every((one) => matches(one, name));
}

function contains(name: string, part: string): boolean {
  for (let at = name.indexOf(part); at !== -1; at = name.indexOf(part, at + 1))
    if (!isCutShort(name, at + part.length)) return true;
  return false;
}

/**
 * True when a place in a name is inside a version, after a digit: in `claude-opus-4-10` after the 1, and in `claude-sonnet-5-5`
 * after the first 5. A place inside a date or a build, such as `-2025|0929` and `-0|01`, is no such place.
 */
function isCutShort(name: string, end: number): boolean {
  const [last] = /\d+$/.exec(name.slice(0, end)) ?? [];
  if (last === undefined) return false;
  const rest = name.slice(end);
  const [more] = /^\d+/.exec(rest) ?? [];
  return more === undefined ? LATER_VERSION.test(rest) : last.length + more.length <= 2;
}
