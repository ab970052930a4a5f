/** A byte order mark, which stays where it is and which no format knows, and the rest of a text. */
export function splitMark(text: string): { mark: string; body: string } {
  const length = text.startsWith("\uFEFF") ? 1 : 0;
  return { mark: text.slice(0, length), body: text.slice(length) };
}
