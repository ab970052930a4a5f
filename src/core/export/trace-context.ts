import type { SpanPlace } from "./exported-exchange.ts";

/** Version 00 of https://www.w3.org/TR/trace-context/#traceparent-header; later versions may append fields. */
const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** Returns a `traceparent` header that names a span, without what a later version may append; null for any other text. */
export function readTraceparent(header: string | undefined): string | null {
  if (header === undefined || header.length > 256) return null;
  const found = TRACEPARENT.exec(header);
  return found === null ? null : `00-${found[1]}-${found[2]}-${found[3]}`;
}

/**
 * Returns where the span of a record belongs: below that of its client, if the record names one, or in a trace of its own. The ids of its
 * own come from the record's, so that a record that is sent twice is the same span.
 */
export function placeSpan(id: string, traceparent: string | null): SpanPlace {
  const digits = hexOf(id);
  const spanId = digits.slice(-16);
  const [, traceId, parentId, flags] = TRACEPARENT.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || parentId === undefined)
    return { traceId: digits, spanId, parentId: null, flags: 1 };
  return { traceId, spanId, parentId, flags: Number.parseInt(flags ?? "0", 16) };
}

/** 32 digits: those of a UUID, or of the last characters of another id. */
function hexOf(id: string): string {
  const digits = id.replaceAll("-", "").toLowerCase();
  if (/^[0-9a-f]{32}$/.test(digits)) return digits;
  const codes = Array.from(id, (char) => (char.codePointAt(0) ?? 0).toString(16).padStart(2, "0"));
  return codes.join("").slice(-32).padStart(32, "1");
}
