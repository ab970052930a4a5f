const VALUE = String.raw`(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^\s"',;]+))`;

/**
 * `NAME=value`, `"name": "value"`, `name = 'value'`, `name: value`, anywhere in a line. One pattern covers all languages of
 * start-up files and configurations, because only single values matter. A name must start at a word boundary and is limited
 * in length, so that matching takes linear time in lines of megabytes.
 */
const ASSIGNMENT = new RegExp(
  String.raw`(?<![\w.-])(?<quote>["']?)(?<name>[A-Za-z_][\w.-]{0,80})\k<quote>\s{0,40}[:=]\s{0,40}${VALUE}`,
  "g",
);

/** `set -gx NAME value` of fish, `setenv NAME value` of csh. */
const SETTING = new RegExp(String.raw`^\s*set(?:env)?\s+(?:-\S+\s+){0,5}(?<name>\w+)\s+${VALUE}`, "g");

/** Returns the assignments in a line, first those with `set` or `setenv`. */
export function findAssignments(line: string): { name: string; value: string }[] {
  return [...line.matchAll(SETTING), ...line.matchAll(ASSIGNMENT)].map(({ groups = {} }) => {
    const { name = "", double, single, bare } = groups;
    return { name, value: double ?? single ?? bare ?? "" };
  });
}

/** True for a comment in any of these languages. */
export function isCommentLine(line: string): boolean {
  return /^\s*(?:#|\/\/)/.test(line);
}
