/** Parses what a command printed with `--json` into the program's own type, whose names are in camel case. */
export function parseJsonOutput<T>(stdout: string): T {
  const toCamelCase = (name: string) =>
    name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const revive = (_: string, value: unknown): unknown =>
    typeof value !== "object" || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).map(([name, member]) => [toCamelCase(name), member]));
  return JSON.parse(stdout, revive) as T;
}
