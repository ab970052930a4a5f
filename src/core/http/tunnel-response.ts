/** A proxy's response to CONNECT. */
export interface ConnectResponse {
  status: number;
  /** True when the proxy offers basic authentication, or does not say which scheme it wants. */
  acceptsBasicAuth: boolean;
  /** Length of the response's head. What follows belongs to the tunnel. */
  headBytes: number;
}

/** Node's own limit for the head of a response. */
const MAX_HEAD_BYTES = 16 * 1024;

const START = "HTTP/1.";

/**
 * Parses the response from all bytes received so far; null while its head is incomplete, "not-http" as soon as it cannot
 * become one. A 2xx response has no body, whatever its headers say (RFC 9110 section 9.3.6).
 */
export function parseConnectResponse(bytes: Buffer): ConnectResponse | "not-http" | null {
  const text = bytes.toString("latin1", 0, MAX_HEAD_BYTES);
  // The first bytes decide, so that a server of another protocol is not mistaken for a slow proxy.
  if (text.slice(0, START.length) !== START.slice(0, text.length)) return "not-http";
  const status = /^HTTP\/1\.[01] (\d{3})(?=[ \r])/.exec(text)?.[1];
  if (status === undefined && text.includes("\r\n")) return "not-http";
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return bytes.length < MAX_HEAD_BYTES ? null : "not-http";
  const head = text.slice(0, end);
  const acceptsBasicAuth =
    /^proxy-authenticate:(?:.*,)?[ \t]*basic\b/im.test(head) || !/^proxy-authenticate:/im.test(head);
  return { status: Number(status), acceptsBasicAuth, headBytes: end + 4 };
}
