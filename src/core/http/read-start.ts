/**
 * Reads a body whole, or until there is more than `maxBytes`. Then it stops, which closes the connection of a response. Rejects with the
 * body's error.
 */
export async function readStart(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks);
}
