import { headerName } from "./header-name.ts";

/**
 * Headers by lower-case name, made from the raw list, because Node's own `headers` object silently keeps the
 * first of two `Host` or `Origin` lines (facts/threats.md C2).
 */
export interface HeaderIndex {
  /** First value of the header `name` (lower case). */
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** Names that came more than once. */
  readonly repeated: readonly string[];
}

/** Indexes `[name, value, name, value, ...]` as `IncomingMessage.rawHeaders` has it. */
export function indexHeaders(rawHeaders: readonly string[]): HeaderIndex {
  const first = new Map<string, string>();
  const repeated: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = headerName(rawHeaders[i] ?? "").lower;
    if (first.has(name)) repeated.push(name);
    else first.set(name, rawHeaders[i + 1] ?? "");
  }
  return {
    get: (name) => first.get(name),
    has: (name) => first.has(name),
    repeated,
  };
}
