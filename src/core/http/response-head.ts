import type { HeaderIndex } from "./header-index.ts";
import { isPlainLength } from "./content-length.ts";

/** What an upstream's answer is judged by before anything of it goes on. */
export interface ResponseHead {
  status: number;
  /** `1.1`, as Node's parser gives it. */
  httpVersion: string;
  headers: HeaderIndex;
}

/**
 * What is wrong with a head that Node's parser has let through, in words; null for nothing. Node takes the version from
 * 0.9 to 2.0, and a body whose last encoding is not chunked for one that lasts until the connection ends; whoever read
 * it otherwise would see other answers (RFC 9112 sections 6.1 to 6.3; facts/threats.md C6).
 */
export function faultOfResponse({ status, httpVersion, headers }: ResponseHead): string | null {
  if (status < 200 || status > 599) return `the upstream answered with status ${status}`;
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return `the upstream answered in HTTP/${httpVersion}`;
  const encoding = headers.get("transfer-encoding");
  const isChunked = httpVersion === "1.1" && encoding?.toLowerCase() === "chunked";
  if (encoding !== undefined && (!isChunked || headers.repeated.includes("transfer-encoding"))) {
    return "the upstream's answer has a transfer-encoding other than chunked";
  }
  const length = headers.get("content-length");
  if (length !== undefined && !isPlainLength(length)) {
    return "the upstream's answer has an odd content-length";
  }
  return null;
}
