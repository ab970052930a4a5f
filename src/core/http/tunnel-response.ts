/**
 * Why a tunnel could not be opened:
 * - `UNREACHABLE`: no connection to the proxy; `detail` is the error code of the system or of TLS
 * - `CLOSED`: the proxy closed the connection before it responded
 * - `NOT_HTTP`: the response is not that of an HTTP proxy
 * - `AUTH_MISSING`, `AUTH_WRONG`, `AUTH_UNKNOWN`: 407 without configured credentials, with them, and from a proxy that does not
 *   accept basic authentication
 * - `REFUSED`, `FAILED`: another 4xx (or 3xx), or a 5xx; `detail` is the status
 */
export type TunnelErrorCode =
  `ERR_PROXY_${"UNREACHABLE" | "CLOSED" | "NOT_HTTP" | "AUTH_MISSING" | "AUTH_WRONG" | "AUTH_UNKNOWN" | "REFUSED" | "FAILED"}`;

/** The code used for an error that has none. */
export const NO_CODE = "connection closed";

/** The proxy did not open a tunnel. */
export class TunnelError extends Error {
  readonly code: TunnelErrorCode;
  readonly detail: string;

  constructor(code: TunnelErrorCode, detail = "", options?: ErrorOptions) {
    super(`no tunnel through the proxy: ${code}${detail === "" ? "" : ` ${detail}`}`, options);
    this.name = "TunnelError";
    this.code = code;
    this.detail = detail;
  }
}

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
