import type { HeaderIndex } from "./header-index.ts";

/** An upstream's response that is not valid HTTP/1.1. The message is a whole sentence, without a full stop, that quotes nothing of it. */
export class InvalidResponse extends Error {
  override readonly name = "InvalidResponse";
}

const PLAIN_LENGTH = /^(?:0|[1-9][0-9]*)$/;

/** True for a `content-length` that all parsers read alike. Some read leading zeros (RFC 9110 section 8.6) as octal. */
export function isPlainContentLength(value: string): boolean {
  return PLAIN_LENGTH.test(value);
}

/** Where the body of a response ends: after so many bytes, with its last chunk, or with the connection. */
export type BodyFraming = number | "chunked" | "until-close";

/** Statuses without a body, whatever the headers say (RFC 9112 section 6.3). Those below 200 have none, either. */
const WITHOUT_BODY = new Set([204, 304]);

/** Headers that say where a body ends. */
const FRAMING_NAMES = new Set(["content-length", "transfer-encoding"]);

/** True for the name, in any spelling, of a header that says where a body ends. */
export function isFramingName(name: string): boolean {
  return FRAMING_NAMES.has(name.toLowerCase());
}

/** The head of a response. `version` is `1.1` or whatever the status line says. */
interface FramedHead {
  status: number;
  version: string;
  headers: HeaderIndex;
  /** True when the request has asked for another protocol. */
  isUpgrade: boolean;
}

/**
 * Reads where the body ends. Whatever another parser could read differently is refused, because it would see other responses on
 * the connection (RFC 9112 sections 6.1 to 6.3; SECURITY.md C6).
 * @throws InvalidResponse
 */
export function readFraming({ status, version, headers, isUpgrade }: FramedHead): BodyFraming {
  if (version !== "1.1" && version !== "1.0")
    throw new InvalidResponse(`the upstream responded in HTTP/${version}`);
  if (status < 100 || status > 599) throw new InvalidResponse(`the upstream responded with status ${status}`);
  if (status === 101 && !isUpgrade)
    throw new InvalidResponse("the upstream switched protocols without being asked to");
  if (status < 200 && version === "1.0")
    throw new InvalidResponse("the upstream sent an interim response in HTTP/1.0");
  const framing = readHeaders(version, headers);
  // What follows is the other protocol. It has no length, and no chunks (RFC 9110 section 8.6, RFC 9112 section 6.1).
  if (status === 101 && framing !== "until-close")
    throw new InvalidResponse("the upstream announced a body for another protocol");
  if (status === 101) return framing;
  return status < 200 || WITHOUT_BODY.has(status) ? 0 : framing;
}

function readHeaders(version: string, headers: HeaderIndex): BodyFraming {
  const encoding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (encoding !== undefined) {
    const isChunked = version === "1.1" && encoding.toLowerCase() === "chunked";
    if (!isChunked || headers.repeated.includes("transfer-encoding"))
      throw new InvalidResponse("the response has a transfer-encoding other than chunked");
    if (length !== undefined) throw new InvalidResponse("the response has both a content-length and chunks");
    return "chunked";
  }
  if (length === undefined) return "until-close";
  const bytes = Number(length);
  const isPlain = isPlainContentLength(length) && Number.isSafeInteger(bytes);
  if (!isPlain || headers.repeated.includes("content-length"))
    throw new InvalidResponse("the response has an invalid content-length");
  return bytes;
}
