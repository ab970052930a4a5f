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

/** A name before a value, which is not consumed: it may hold assignments itself. A bare value is read so far only: a text may be all of it. */
const NAMED_VALUE = new RegExp(
  String.raw`(?<![\w.-])(?<name>[A-Za-z_][\w.-]{0,80})\s{0,8}["']?\s{0,8}[:=]\s{0,40}(?=(?:"(?<double>[^"]*)"|'(?<single>[^'\n]{0,4096})'|(?<bare>[^\s"',;]{1,200})))`,
  "g",
);

/** Yields the assignments anywhere in a text, also those within values, each with the place of its value. */
export function* placeAssignments(text: string): Generator<{ name: string; value: string; at: number }> {
  for (const { 0: before, index, groups = {} } of text.matchAll(NAMED_VALUE)) {
    const { name = "", double, single, bare } = groups;
    const value = double ?? single ?? bare ?? "";
    yield { name, value, at: index + before.length + (bare === undefined ? 1 : 0) };
  }
}

/** True for a comment in any of these languages. */
export function isCommentLine(line: string): boolean {
  return /^\s*(?:#|\/\/)/.test(line);
}
