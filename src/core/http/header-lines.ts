import { InvalidResponse } from "./framing.ts";

/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * Control characters, and line ends other than CR LF. Without obsolete folding (RFC 9112 section 5.2), neither is in a header. A tab at
 * the end of a value is refused, too: Node's parser does not take `chunked` for that when one follows.
 */
const FORBIDDEN_IN_HEADERS = /[^\t\r\n\u0020-\u007e\u0080-\u00ff]|\r(?!\n)|(?<!\r)\n|\t *(?:\r|$)/;

const [TAB, SPACE] = [9, 32];

/** A line end other than CR LF, after which a head would never end. A CR at the very end may be half of CR LF. */
const STRAY_LINE_END = /\r(?!\n|$)|(?<!\r)\n/;

/** True if no valid header lines can begin like this. */
export function hasStrayLineEnd(text: string): boolean {
  return STRAY_LINE_END.test(text);
}

/**
 * Parses header lines, which `\r\n` separates, into `[name, value, name, value, ...]`.
 * @throws InvalidResponse
 */
export function parseHeaderLines(text: string): string[] {
  if (FORBIDDEN_IN_HEADERS.test(text)) throw new InvalidResponse("a header contains a control character");
  const parsed: string[] = [];
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    if (!TOKEN.test(name)) throw new InvalidResponse("a header has an invalid name");
    parsed.push(name, trimSpace(line, colon + 1));
  }
  return parsed;
}

/** The rest of a line from `start` without spaces and tabs around it. `String.trim` would also take U+00A0, which is a byte of text. */
function trimSpace(line: string, start: number): string {
  let [from, to] = [start, line.length];
  while (from < to && isSpace(line.charCodeAt(from))) from += 1;
  while (to > from && isSpace(line.charCodeAt(to - 1))) to -= 1;
  return line.slice(from, to);
}

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB;
}
