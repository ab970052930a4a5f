const BYTES_PER_TOKEN = 4;
const CHUNK_CHARACTERS = 16;

/** The sandbox's one rule of counting: a token is four UTF-8 bytes, and each part is rounded up. */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** The longest beginning of `text` that counts at most `limit` tokens; never half a character. */
export function firstTokens(text: string, limit: number): string {
  let bytesLeft = limit * BYTES_PER_TOKEN;
  let end = 0;
  for (const character of text) {
    bytesLeft -= Buffer.byteLength(character);
    if (bytesLeft < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** `text` in the pieces that a stream sends it in; joined they are `text` again. */
export function splitInChunks(text: string): string[] {
  const characters = Array.from(text);
  const chunks: string[] = [];
  for (let at = 0; at < characters.length; at += CHUNK_CHARACTERS) {
    chunks.push(characters.slice(at, at + CHUNK_CHARACTERS).join(""));
  }
  return chunks;
}
