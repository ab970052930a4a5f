/** How many bytes a header's value takes, by its type; -1 for those that say it in two bytes. Booleans have none. */
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16];
const STRING = 7;

/**
 * Reads the headers of a frame whose values are strings, such as `:event-type`; null where they cannot be read. Each is its name's length
 * (1 byte), its name, its value's type (1 byte), and the value, for a string after its length (2 bytes).
 */
export function readFrameHeaders(bytes: Buffer): ReadonlyMap<string, string> | null {
  const found = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + (bytes[at] ?? 0);
    const type = bytes[nameEnd];
    let size = VALUE_BYTES[type ?? -1];
    let valueAt = nameEnd + 1;
    if (size === undefined) return null;
    if (size === -1) {
      if (valueAt + 2 > bytes.length) return null;
      size = bytes.readUInt16BE(valueAt);
      valueAt += 2;
    }
    if (valueAt + size > bytes.length) return null;
    if (type === STRING)
      found.set(bytes.toString("latin1", at + 1, nameEnd), bytes.toString("utf8", valueAt, valueAt + size));
    at = valueAt + size;
  }
  return found;
}
