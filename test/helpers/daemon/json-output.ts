/** Parses what a command printed with `--json` into the program's own form, whose names are in camel case. */
export function parseJsonOutput(stdout: string): unknown {
  return JSON.parse(stdout, (_, value: unknown) =>
    typeof value !== "object" || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).map(([name, member]) => [toCamelCase(name), member])),
  );
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
