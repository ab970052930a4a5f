/** Does `bytes[at, to)` begin with `text`? */
export function hasTextAt(bytes: Buffer, at: number, to: number, text: Buffer): boolean {
  if (to - at < text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text[i]) return false;
  return true;
}
