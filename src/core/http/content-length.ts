const PLAIN_LENGTH = /^(?:0|[1-9][0-9]*)$/;

/**
 * True for a `content-length` that every parser reads as the same number. RFC 9110 section 8.6 allows leading zeros, but
 * some parsers read them as octal, and the value is forwarded as received.
 */
export function isPlainContentLength(value: string): boolean {
  return PLAIN_LENGTH.test(value);
}
