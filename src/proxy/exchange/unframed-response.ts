import type { HeaderIndex } from "../../core/http/header-index.ts";
import type { ResponseHead } from "../../core/http/response-head.ts";
import type { Route } from "../../core/http/routes.ts";
import type { MeterReading } from "../../core/usage/reading.ts";

/**
 * A response without content-length and chunks, whose body ends with its connection (RFC 9112 section 6.3). That end may come from
 * anything, and libuv reports a reset that arrives with the last bytes as a clean end, so only the content can tell (SECURITY.md D2).
 */
interface UnframedResponse {
  head: ResponseHead;
  /** True when the body had no byte. */
  isEmpty: boolean;
  /** What the meter read in it. */
  reading: MeterReading;
  /** As in `ResponseMeter`. */
  isFinished: boolean;
}

/** One JSON document. */
const JSON_DOCUMENT = /^\s*application\/(?!stream\+)(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const EVENT_STREAM = /^\s*text\/event-stream/i;
/** Types that a JSON document may be sent as. */
const TEXT = /^\s*(?:$|text\/(?!event-stream))/i;

/** Statuses without output of a model, and with a body only if they say so: redirects and errors. */
const FIRST_FAILED_STATUS = 300;

/** True when the headers say where the body ends, or the status says that there is none. */
export function isFramed({ framing }: ResponseHead): boolean {
  return framing !== "until-close";
}

/**
 * True when the content itself shows whether it is whole: one JSON document, or a stream whose last event is always sent. The client of
 * any other response without framing gets it without framing, too, and so knows as much as we do. What is compressed is among
 * these, since the meter may fail to read it.
 */
export function showsItsEnd({ status, headers }: ResponseHead, { dialect, spend }: Route): boolean {
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") return false;
  const type = typeOf(headers);
  if (JSON_DOCUMENT.test(type)) return true;
  const hasLastEvent = (dialect === "messages" || dialect === "responses") && spend !== "never";
  return hasLastEvent && EVENT_STREAM.test(type) && status < FIRST_FAILED_STATUS;
}

/** Returns true for a response without framing that was truncated although its connection ended cleanly. */
export function isSilentlyTruncated({ head, isEmpty, reading, isFinished }: UnframedResponse): boolean {
  const type = typeOf(head.headers);
  const isKnown = JSON_DOCUMENT.test(type) || EVENT_STREAM.test(type);
  if (isEmpty) return isKnown || head.status === 200;
  if (reading.outcome === "cut") return true;
  if (isKnown) return !isFinished || reading.flags.includes("bad_json");
  return !isFinished && TEXT.test(type);
}

function typeOf(headers: HeaderIndex): string {
  return headers.get("content-type") ?? "";
}
