/** No service has longer ids. */
const MAX_LENGTH = 256;

const PERCENT = 0x25;
const SLASH = 0x2f;

/** The characters of a segment besides the percent sign (RFC 3986 section 3.3, `pchar`), by their code. */
const SEGMENT_CHARACTERS = markCharacters(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@",
);

/**
 * True for what may stand for `{id}` in a path: one segment by RFC 3986 section 3.3 that no server on the way can take for anything else
 * (SECURITY.md B2). So it is no `.` or `..`, also not before a parameter (`..;x`), and has no dot, slash, backslash, percent sign or
 * control character in an escape, no escaped question mark or number sign, which would end the path, and no escape that is not UTF-8.
 */
export function isId(text: string): boolean {
  return text.length <= MAX_LENGTH && isSegment(text);
}

/** As {@link isId}, for the id of a model: it may have slashes, so it may be several segments. */
export function isModelId(text: string): boolean {
  if (text.length > MAX_LENGTH) return false;
  let start = 0;
  for (let end = text.indexOf("/"); end !== -1; end = text.indexOf("/", start)) {
    if (!isSegment(text.slice(start, end))) return false;
    start = end + 1;
  }
  return isSegment(text.slice(start));
}

function isSegment(text: string): boolean {
  let hasEscape = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === PERCENT) {
      if (!isSafeEscape(text.slice(at + 1, at + 3))) return false;
      hasEscape = true;
      at += 2;
    } else if (SEGMENT_CHARACTERS[code] !== 1) return false;
  }
  const [name = ""] = text.split(";", 1);
  return name !== "" && name !== "." && name !== ".." && (!hasEscape || isUtf8(text));
}

/** Not in an escape: the percent sign, the slash, the dot, the backslash, the semicolon, the question mark, and the number sign. */
const UNSAFE_BYTES: ReadonlySet<number> = new Set([PERCENT, SLASH, 0x2e, 0x5c, 0x3b, 0x3f, 0x23]);

/** `digits`: what follows a percent sign. Some servers decode an escape before they look for segments, some decode it twice. */
function isSafeEscape(digits: string): boolean {
  if (!/^[0-9A-Fa-f]{2}$/.test(digits)) return false;
  const byte = Number.parseInt(digits, 16);
  const isControl = byte < 0x20 || byte === 0x7f;
  return !isControl && !UNSAFE_BYTES.has(byte);
}

/** False for overlong forms, too, which some servers read as a dot or a slash (RFC 3629 section 3). */
function isUtf8(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function markCharacters(characters: string): Uint8Array {
  const marks = new Uint8Array(128);
  for (const character of characters) marks[character.charCodeAt(0)] = 1;
  return marks;
}
