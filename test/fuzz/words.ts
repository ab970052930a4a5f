/** Splits a text into words: easier to read than a list of literals. */
export function splitWords(text: string): string[] {
  return text.trim().split(/\s+/);
}
