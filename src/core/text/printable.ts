/**
 * Characters that control a terminal, a log viewer or a line splitter: C0, DEL and C1 controls, bidirectional controls, line
 * and paragraph separators (SECURITY.md E3). Also lone surrogates, which UTF-8 cannot encode.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** Matches text without any of them. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/** The same of several lines. */
const PRINTABLE_LINES = /^[\n\t -~]*$/;

/**
 * Replaces every unprintable character by `\uXXXX`. In JSON text such characters occur only inside strings, where this is the
 * escape of RFC 8259 section 7, so the value stays the same. In other text it makes them visible.
 */
export function toPrintable(text: string): string {
  // Fast path for nearly every line of the ledger: 0.4 µs instead of 0.9.
  if (PRINTABLE_ASCII.test(text)) return text;
  return text.replace(UNPRINTABLE, escape);
}

/**
 * Applies {@link toPrintable} to text of several lines for a terminal, between its line feeds and tabs. A tab only moves the
 * cursor to the right, so that indented files stay aligned.
 */
export function toPrintableLines(text: string): string {
  // A long document has a hundred thousand lines.
  if (PRINTABLE_LINES.test(text)) return text;
  return text.replaceAll(/[^\n\t]+/g, (part) => toPrintable(part));
}

/** Characters that end a line or control a terminal. */
const LINE_CONTROLS = /[\p{Zl}\p{Zp}\p{Cc}]/gu;

/** Makes text one line: escapes what would end it, or control a terminal. What turns the direction of text stays, because paths may have it. */
export function toOneLine(text: string): string {
  return text.replace(LINE_CONTROLS, escape);
}

function escape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
