const POLYNOMIAL = 0xedb88320;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = (sum & 1) === 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1;
  return sum;
});

/** Adds `bytes[from, to)` to a checksum, 0 for none (CRC-32 of ISO 3309, as in gzip). Here, because the core loads nothing of Node's. */
export function addCrc32(sum: number, bytes: Buffer, from: number, to: number): number {
  let crc = ~sum;
  for (let at = from; at < to; at++) crc = (crc >>> 8) ^ (TABLE[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  return ~crc >>> 0;
}
