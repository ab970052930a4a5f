import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { constants, mkdirSync, readdirSync, unlinkSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../../core/failure.ts";
import { about } from "../../core/system-error.ts";

/** What is encrypted at a time. */
const CHUNK_BYTES = 256 * 1024;

/** AES-256-GCM (NIST SP 800-38D): a nonce of 96 bits, which is a counter here, and a tag of 128 bits. */
const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Names of the files, for the moment in which they have one. */
const NAME = /^capture-[0-9a-f]{16}\.part$/;

/** Where an entry is in its file. */
export interface EntryPlace {
  /** Of its first chunk, in bytes. */
  at: number;
  /** The number of that chunk in the file, which its nonce is. */
  chunk: number;
  /** Of its plaintext, in bytes. */
  length: number;
}

/**
 * A file of encrypted entries that has no name: it is removed from its directory as soon as it is open, so that it ends with the process,
 * however that ends. The key is random and in memory alone. Nothing else can be read from the disk than what the key, which is gone
 * with the process, decrypts.
 */
export class CaptureFile {
  readonly #handle: FileHandle;
  readonly #key = randomBytes(32);
  #bytes = 0;
  #chunks = 0;
  #isClosed = false;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Creates a file in a directory of the user's own. Rejects with an errno error. */
  static async create(directory: string): Promise<CaptureFile> {
    about(directory, () => mkdirSync(directory, { recursive: true, mode: 0o700 }));
    const path = join(directory, `capture-${randomBytes(8).toString("hex")}.part`);
    const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const handle = await open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    unlinkSync(path);
    return new CaptureFile(handle);
  }

  /** Bytes on the disk. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns how many bytes an entry takes on the disk. */
  static sizeOf(length: number): number {
    return length + Math.max(1, Math.ceil(length / CHUNK_BYTES)) * TAG_BYTES;
  }

  /** Encrypts an entry and appends it. One at a time. Rejects with an errno error, and then the file is as it was. */
  async append(entry: Buffer): Promise<EntryPlace> {
    const place = { at: this.#bytes, chunk: this.#chunks, length: entry.length };
    let { at, chunk } = place;
    for (let from = 0; from === 0 || from < entry.length; from += CHUNK_BYTES) {
      const plain = entry.subarray(from, from + CHUNK_BYTES);
      const cipher = createCipheriv(ALGORITHM, this.#key, nonceOf(chunk));
      cipher.setAAD(describe(place, from, entry.length));
      // A nonce is never used again, also when this fails.
      this.#chunks = chunk += 1;
      const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      await writeAll(this.#handle, sealed, at);
      at += sealed.length;
    }
    this.#bytes = at;
    return place;
  }

  /** Reads an entry. Rejects with an errno error, and with another for what is not as it was written. */
  async read(place: EntryPlace): Promise<Buffer> {
    const parts: Buffer[] = [];
    let { at, chunk } = place;
    for (let from = 0; from === 0 || from < place.length; from += CHUNK_BYTES) {
      const length = Math.min(CHUNK_BYTES, place.length - from);
      const sealed = Buffer.alloc(length + TAG_BYTES);
      await readAll(this.#handle, sealed, at);
      const decipher = createDecipheriv(ALGORITHM, this.#key, nonceOf(chunk));
      decipher.setAAD(describe(place, from, place.length));
      decipher.setAuthTag(sealed.subarray(length));
      parts.push(decipher.update(sealed.subarray(0, length)), decipher.final());
      at += sealed.length;
      chunk += 1;
    }
    return Buffer.concat(parts);
  }

  /** Deletes it: forgets the key, and gives its space back. Later calls do nothing. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#key.fill(0);
    await this.#handle.close();
  }
}

/** Removes what a daemon has left that was killed while it opened a file. Throws an errno error. */
export function removeCaptureFiles(directory: string): void {
  try {
    for (const name of readdirSync(directory)) if (NAME.test(name)) unlinkSync(join(directory, name));
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
}

function nonceOf(chunk: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeBigUInt64BE(BigInt(chunk), NONCE_BYTES - 8);
  return nonce;
}

/** What a chunk is, which is authenticated with it: of which entry, from where, and of how many bytes in all. */
function describe({ at }: EntryPlace, from: number, length: number): Buffer {
  return Buffer.from(`${at} ${from} ${length}`);
}

async function writeAll(handle: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let from = 0; from < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, from, bytes.length - from, at + from);
    from += bytesWritten;
  }
}

async function readAll(handle: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let from = 0; from < bytes.length;) {
    const { bytesRead } = await handle.read(bytes, from, bytes.length - from, at + from);
    if (bytesRead === 0) throw new Error("the file of a capture is shorter than it was");
    from += bytesRead;
  }
}
