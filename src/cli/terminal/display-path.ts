import { sanitizeText } from "../../core/config/problem.ts";

/** Returns the path with `~` in place of the home directory. */
export function displayPath(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** Returns a location and the name assigned there, e.g. `~/.zshrc:12 (ANTHROPIC_API_KEY)`. The name may be any text. */
export function displayLocation(location: string, name: string | null): string {
  return name === null ? location : `${location} (${sanitizeText(name)})`;
}
