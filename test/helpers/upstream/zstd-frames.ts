// zstd frames made by hand, because Node 20 cannot compress (RFC 8878, section 3.1.1).

/** The most that a block may hold. */
const BLOCK_BYTES = 128 * 1024;
const [RAW, REPEATED] = [0, 1];
/** How long the head of these frames is, before the first block. */
export const ZSTD_HEAD_BYTES = 6;

/** A frame with the given content, not compressed. */
export function zstdFrame(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes.length || at === 0; at += BLOCK_BYTES) {
    const block = bytes.subarray(at, at + BLOCK_BYTES);
    blocks.push(blockHead(RAW, block.length, at + BLOCK_BYTES >= bytes.length), block);
  }
  return Buffer.concat([frameHead(17), ...blocks]);
}

/** The first `blocks` blocks of a frame, four bytes each, that decode to 128 KiB of zeros each. */
export function zstdZeros(blocks: number): Buffer {
  const block = Buffer.concat([blockHead(REPEATED, BLOCK_BYTES, false), Buffer.alloc(1)]);
  return Buffer.concat([frameHead(17), ...Array.from({ length: blocks }, () => block)]);
}

/** A frame of one block that announces a window of two to the power of `windowLog` bytes. */
export function zstdWindow(windowLog: number, content: string): Buffer {
  return Buffer.concat([frameHead(windowLog), zstdFrame(content).subarray(ZSTD_HEAD_BYTES)]);
}

/** The magic number, no flags, and the window. */
function frameHead(windowLog: number): Buffer {
  return Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3]);
}

function blockHead(type: number, size: number, isLast: boolean): Buffer {
  const head = Buffer.alloc(3);
  head.writeUIntLE((size << 3) | (type << 1) | Number(isLast), 0, 3);
  return head;
}
