/** Decodes the percent-encoding of a text (RFC 3986 section 2.1) once, as UTF-8. Malformed escapes stay as they are. */
export function decodePercent(text: string): string {
  if (!text.includes("%")) return text;
  return text.replaceAll(/(?:%[\da-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString(),
  );
}
