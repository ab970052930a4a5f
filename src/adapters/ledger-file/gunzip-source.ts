import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Failure, messageOf } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import type { ByteSource } from "./byte-source.ts";

/** How much is decompressed at once. Less takes longer. */
const CHUNK_BYTES = 256 * 1024;

/** What a compressed file contains, from the gzip member that begins at byte `start` to the one that ends at byte `end`. */
export class GunzipSource implements ByteSource {
  readonly #path: string;
  readonly #compressed: Readable;
  readonly #chunks: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);

  constructor(file: FileHandle, path: string, start = 0, end = Infinity) {
    this.#path = path;
    this.#compressed = Readable.from(chunksOf(file, start, end), { objectMode: false });
    const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
    this.#compressed.on("error", (error) => gunzip.destroy(error));
    this.#chunks = this.#compressed.pipe(gunzip)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** Throws a Failure when the file is damaged, so that no sum silently leaves out a part of it. */
  async read(buffer: Buffer, offset: number, length: number): Promise<{ bytesRead: number }> {
    if (this.#chunk.length === 0) this.#chunk = await this.#next();
    const bytesRead = this.#chunk.copy(buffer, offset, 0, length);
    this.#chunk = this.#chunk.subarray(bytesRead);
    return { bytesRead };
  }

  /** Reads no further. The file stays open. */
  async close(): Promise<void> {
    this.#compressed.destroy();
    await this.#chunks.return?.();
  }

  async #next(): Promise<Buffer> {
    try {
      const next = await this.#chunks.next();
      return next.done === true ? Buffer.alloc(0) : next.value;
    } catch (cause) {
      throw new Failure(
        `cannot read the ledger: ${this.#path} is damaged: ${messageOf(cause)}`,
        `to see how far it can be read, type: ${formatCommand(["gzip", "-dc", this.#path])}`,
        { cause },
      );
    }
  }
}

/** Yields a file from byte `start` on. A stream of Node's own would close it when it ends early. */
async function* chunksOf(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end;) {
    const length = Math.min(CHUNK_BYTES, end - at);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
