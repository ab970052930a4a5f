import { asText } from "../fields.ts";

/** The name of something that Google stores: `files/abc-123`, or `projects/P/locations/L/cachedContents/123`. */
const NAME = /^(?:[\w.:-]+\/)+([\w.~=-]+)$/;

/** Returns the id in the name of something stored, as its path ends with it; null for what is no such name. */
export function readResourceId(name: unknown): string | null {
  return NAME.exec(asText(name) ?? "")?.[1] ?? null;
}
