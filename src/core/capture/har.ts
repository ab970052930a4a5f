import type { CapturedExchange, CapturedMessage } from "./captured.ts";

/** An HTTP archive in version 1.2 (W3C Web Performance, "HTTP Archive (HAR) format"), as far as it has something of a capture. */
interface HarLog {
  log: { version: "1.2"; creator: { name: string; version: string }; entries: object[] };
}

type HarHeaders = { name: string; value: string }[];

/** Nothing is known of it. */
const UNKNOWN = -1;

/** Returns captured exchanges as an HTTP archive. `program` is the version that writes it. */
export function toHar(exchanges: readonly CapturedExchange[], program: string): HarLog {
  const creator = { name: "tollkeeper", version: program };
  return { log: { version: "1.2", creator, entries: exchanges.map(toEntry) } };
}

function toEntry({ head, request, response }: CapturedExchange): object {
  const { record, method, origin, path } = head;
  const { ts, duration_ms: time, ttft_ms: first, status } = record;
  const wait = Math.min(first ?? time, time);
  const isMessage = status === SWITCHING_PROTOCOLS;
  const url = new URL(origin + path);
  const headers = headersOf(head.response);
  return {
    startedDateTime: ts,
    time,
    request: {
      method,
      url: url.href,
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: headersOf(head.request),
      queryString: [...url.searchParams].map(([name, value]) => ({ name, value })),
      headersSize: UNKNOWN,
      bodySize: head.request.wireBytes,
      ...(request !== "" && { postData: { mimeType: typeOf(headersOf(head.request)), ...textOf(request) } }),
    },
    response: {
      status: status ?? 0,
      statusText: "",
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers,
      content: {
        size: Buffer.byteLength(response, "base64"),
        mimeType: typeOf(headers),
        ...textOf(response),
      },
      redirectURL: "",
      headersSize: UNKNOWN,
      bodySize: head.response.wireBytes,
    },
    cache: {},
    timings: { send: 0, wait, receive: time - wait },
    ...(isMessage && { comment: "a message on a WebSocket and the events of its response, one a line" }),
  };
}

/** A response over a WebSocket has this status. */
const SWITCHING_PROTOCOLS = 101;

function headersOf({ headers }: CapturedMessage): HarHeaders {
  return headers.map(([name, value]) => ({ name, value }));
}

function typeOf(headers: HarHeaders): string {
  return headers.find(({ name }) => name.toLowerCase() === "content-type")?.value ?? "";
}

/** A body that is no UTF-8 stays in base64. */
function textOf(base64: string): { text: string; encoding?: "base64" } {
  const bytes = Buffer.from(base64, "base64");
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? { text } : { text: base64, encoding: "base64" };
}
