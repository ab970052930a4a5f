/** What lines are read from, piece after piece. */
export interface ByteSource {
  /** Reads the next bytes into `buffer`; none at the end. */
  read(buffer: Buffer, offset: number, length: number): Promise<{ bytesRead: number }>;
}
