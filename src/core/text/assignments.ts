/** A name, and the value given to it. */
export interface Assignment {
  name: string;
  value: string;
}

const VALUE = String.raw`(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^\s"',;]+))`;

/**
 * `NAME=value`, `"name": "value"`, `name = 'value'`, `name: value`, anywhere in a line: one pattern for all the languages
 * of start-up files and configurations, because only single values are looked for. A name is found at its beginning only
 * and has a limit, so that a line of megabytes takes no longer than it must.
 */
const ASSIGNMENT = new RegExp(
  String.raw`(?<![\w.-])(?<quote>["']?)(?<name>[A-Za-z_][\w.-]{0,80})\k<quote>\s{0,40}[:=]\s{0,40}${VALUE}`,
  "g",
);

/** fish's `set -gx NAME value`, csh's `setenv NAME value`. */
const SETTING = new RegExp(String.raw`^\s*set(?:env)?\s+(?:-\S+\s+){0,5}(?<name>\w+)\s+${VALUE}`, "g");

/** Every assignment of a line, in order. */
export function findAssignments(line: string): Assignment[] {
  return [...line.matchAll(SETTING), ...line.matchAll(ASSIGNMENT)].map(({ groups = {} }) => {
    const { name = "", double, single, bare } = groups;
    return { name, value: double ?? single ?? bare ?? "" };
  });
}

/** Is the line there for people only? */
export function isComment(line: string): boolean {
  return /^\s*(?:#|\/\/)/.test(line);
}
