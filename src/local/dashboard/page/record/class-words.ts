/** How long an entry of a cache lives, by its short name in classes. */
const LIVES: Readonly<Record<string, string>> = {
  "5m": "5 min",
  "30m": "30 min",
  "1h": "1 hour",
  "12h": "12 hours",
};

/** Names what is charged as lists do: `uncached`, `from cache`, `to cache (5 min)`, `output`. */
export function nameClass(name: string): string {
  if (name === "input_uncached") return "uncached";
  if (name === "cache_read") return "from cache";
  const [, life] = /^cache_write_(.+)$/.exec(name) ?? [];
  if (life !== undefined) return Object.hasOwn(LIVES, life) ? `to cache (${LIVES[life]})` : "to cache";
  return name.replaceAll("_", " ");
}
