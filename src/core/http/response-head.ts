import { readFraming, type BodyFraming } from "./framing.ts";
import { HeaderIndex } from "./header-index.ts";
import { parseHeaderLines } from "./header-lines.ts";
import { InvalidResponse } from "./invalid-response.ts";

/** The head of an upstream's response. */
export interface ResponseHead {
  status: number;
  /** May be any text without line ends. */
  reason: string;
  headers: HeaderIndex;
  framing: BodyFraming;
  /** True when the connection may be used again after the response (RFC 9112 section 9.3). */
  isPersistent: boolean;
}

const STATUS_LINE = /^HTTP\/([0-9](?:\.[0-9])?) ([0-9]{3})(?: (.*))?$/s;

/**
 * Parses the head of a response: everything before the empty line, decoded as latin1. Strictly: what parsers are known to read
 * differently is refused (RFC 9112 sections 2 to 6; SECURITY.md C6).
 * @throws InvalidResponse
 */
export function parseResponseHead(text: string): ResponseHead {
  const lineEnd = text.indexOf("\r\n");
  const statusLine = lineEnd === -1 ? text : text.slice(0, lineEnd);
  const [, version = "", digits = "", reason = ""] = STATUS_LINE.exec(statusLine) ?? [];
  if (digits === "" || /[\r\n]/.test(reason))
    throw new InvalidResponse("it does not begin with a status line of HTTP");
  const headers = new HeaderIndex(lineEnd === -1 ? [] : parseHeaderLines(text.slice(lineEnd + 2)));
  const status = Number(digits);
  const framing = readFraming({ status, version, headers });
  return { status, reason, headers, framing, isPersistent: isPersistent(version, framing, headers) };
}

function isPersistent(version: string, framing: BodyFraming, headers: HeaderIndex): boolean {
  if (version !== "1.1" || framing === "until-close") return false;
  const options = headers.all("connection");
  return options === undefined || !/(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(options);
}
