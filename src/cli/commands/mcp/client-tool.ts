import { TOOLS } from "../../../tools/all.ts";

/**
 * Returns the tool that a client is, by what it calls itself: the tool's name, with more after it where it has several clients, as in
 * `codex-mcp-client`. null for any other.
 */
export function findClientTool(client: string | null): string | null {
  if (client === null) return null;
  const fitting = TOOLS.map(({ name }) => name).filter(
    (name) => client === name || client.startsWith(`${name}-`),
  );
  return fitting.toSorted((one, other) => other.length - one.length)[0] ?? null;
}
