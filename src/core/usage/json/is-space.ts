/** Is it white space between the parts of a JSON document (RFC 8259 section 2)? */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
