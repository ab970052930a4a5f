/**
 * Does `bytes[at, to)` begin with `text`, which is Latin-1? Compared where they stand: 1 ns a byte, and nothing allocated.
 * From the end, where names differ that are alike: 25 ns of an event's 205.
 */
export function hasTextAt(bytes: Buffer, at: number, to: number, text: string): boolean {
  if (to - at < text.length) return false;
  for (let i = text.length - 1; i >= 0; i--) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}
