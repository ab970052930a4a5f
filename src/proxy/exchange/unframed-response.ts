import type { HeaderIndex } from "../../core/http/header-index.ts";
import type { Reading } from "../../core/usage/reading.ts";

/**
 * Did an answer break off that seemed to end? Without length and chunks its end is that of the connection (RFC 9112
 * section 6.3), and a reset that comes together with the last bytes is a clean end to libuv: only the answer itself tells.
 * `isOver`: it says of itself that it is all.
 */
export function isSilentlyTruncated(headers: HeaderIndex, { outcome, flags }: Reading, isOver: boolean): boolean {
  const isFramed = headers.has("content-length") || headers.has("transfer-encoding");
  return !isFramed && (outcome === "cut" || flags.includes("bad_json") || !isOver);
}
