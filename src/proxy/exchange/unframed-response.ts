import type { HeaderIndex } from "../../core/http/header-index.ts";
import type { MeterReading } from "../../core/usage/reading.ts";

/**
 * Returns true for a response that was truncated although its connection ended cleanly. Without content-length and chunks the end
 * of the connection is the end of the body (RFC 9112 section 6.3), and libuv reports a reset that arrives with the last bytes
 * as a clean end, so only the content can tell. `isOver`: the content says that it is complete.
 */
export function isSilentlyTruncated(
  headers: HeaderIndex,
  { outcome, flags }: MeterReading,
  isOver: boolean,
): boolean {
  return !isFramed(headers) && (outcome === "cut" || flags.includes("bad_json") || !isOver);
}

/** True when the headers say where the body ends. */
export function isFramed(headers: HeaderIndex): boolean {
  return headers.has("content-length") || headers.has("transfer-encoding");
}
