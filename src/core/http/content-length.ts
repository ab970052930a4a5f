const PLAIN_LENGTH = /^(?:0|[1-9][0-9]*)$/;

/**
 * Is it a `content-length` that every reader takes for the same number? Leading zeros are allowed (RFC 9110
 * section 8.6), but some readers take them for octal, and the value goes on as it came.
 */
export function isPlainLength(value: string): boolean {
  return PLAIN_LENGTH.test(value);
}
