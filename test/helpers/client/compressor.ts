import { once } from "node:events";
import { constants, createDeflateRaw } from "node:zlib";

/** Compresses the messages of one peer, each of which may refer to those before it (RFC 7692). */
export class Compressor {
  readonly #deflate = createDeflateRaw();

  /** Returns the payload of the next message. */
  async compress(text: string | Buffer): Promise<Buffer> {
    const pieces: Buffer[] = [];
    const onData = (piece: Buffer) => pieces.push(piece);
    this.#deflate.on("data", onData);
    this.#deflate.write(text);
    await new Promise<void>((resolve) => this.#deflate.flush(constants.Z_SYNC_FLUSH, resolve));
    this.#deflate.off("data", onData);
    return Buffer.concat(pieces).subarray(0, -4);
  }

  /** Frees what zlib holds. */
  async close(): Promise<void> {
    this.#deflate.close();
    await once(this.#deflate, "close");
  }
}
