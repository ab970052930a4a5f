import type { FileHandle } from "node:fs/promises";
import type { ByteSource } from "./byte-source.ts";

/** A file, and how far it has been read. */
export class PositionedFile implements ByteSource {
  protected readonly file: FileHandle;
  protected position: number;

  constructor(file: FileHandle, position = 0) {
    this.file = file;
    this.position = position;
  }

  async read(buffer: Buffer, offset: number, length: number): Promise<{ bytesRead: number }> {
    const { bytesRead } = await this.file.read(buffer, offset, length, this.position);
    this.position += bytesRead;
    return { bytesRead };
  }
}
