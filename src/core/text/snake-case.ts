/** Returns a copy of a JSON value whose objects have `snake_case` keys in place of `camelCase` ones. */
export function toSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCase);
  if (typeof value !== "object" || value === null || "toJSON" in value) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [snakeCase(key), toSnakeCase(member)]),
  );
}

/** Leaves names alone that are not ours, such as those of tools and upstreams: they have no lower case letter before an upper. */
function snakeCase(key: string): string {
  if (!/[A-Z]/.test(key)) return key;
  return key.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
