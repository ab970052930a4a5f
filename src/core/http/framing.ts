import type { HeaderIndex } from "./header-index.ts";

const PLAIN_LENGTH = /^(?:0|[1-9][0-9]*)$/;

/** True for a `content-length` that all parsers read alike. Some read leading zeros (RFC 9110 section 8.6) as octal. */
export function isPlainContentLength(value: string): boolean {
  return PLAIN_LENGTH.test(value);
}

/** The head of an upstream's response. `httpVersion` is `1.1`, as Node's parser gives it. */
interface ResponseHead {
  status: number;
  httpVersion: string;
  headers: HeaderIndex;
}

/**
 * Finds what is wrong with a head that Node's parser has accepted; null when it is valid. Node accepts versions 0.9 to 2.0,
 * and reads a body whose last transfer coding is not chunked until the connection closes. Another parser would see
 * different responses there (RFC 9112 sections 6.1 to 6.3; SECURITY.md C6).
 */
export function findResponseFault({ status, httpVersion, headers }: ResponseHead): string | null {
  if (status < 200 || status > 599) return `the upstream responded with status ${status}`;
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return `the upstream responded in HTTP/${httpVersion}`;
  const encoding = headers.get("transfer-encoding");
  const isChunked = httpVersion === "1.1" && encoding?.toLowerCase() === "chunked";
  if (encoding !== undefined && (!isChunked || headers.repeated.includes("transfer-encoding"))) {
    return "the response has a transfer-encoding other than chunked";
  }
  const length = headers.get("content-length");
  if (length === undefined || isPlainContentLength(length)) return null;
  return "the response has an invalid content-length";
}
