const UTF_8 = /;\s*charset="?utf-?8"?\s*(?=;|$)/gi;

/**
 * Returns what a content type says about its charset when that is not simply UTF-8; null when it names UTF-8 or nothing. JSON is
 * always UTF-8, and the parameter means nothing (RFC 8259 sections 8.1 and 11), but servers decode by it: aiohttp by any that
 * Python knows, UTF-7 included, in which `+ACI-` is a quotation mark.
 */
export function foreignCharset(contentType: string): string | null {
  return /charset[^;]*/i.exec(contentType.replaceAll(UTF_8, ""))?.[0] ?? null;
}
