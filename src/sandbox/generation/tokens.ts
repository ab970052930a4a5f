const BYTES_PER_TOKEN = 4;
const CHUNK_CHARACTERS = 16;

/** Returns the tokens of one part of a request or completion: four UTF-8 bytes are a token, rounded up. */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Returns the tokens of all parts of a request or completion. */
export function sumTokens(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + countTokens(text), 0);
}

/** Returns the longest prefix of `text` with at most `limit` tokens. Never splits a character. */
export function truncateToTokens(text: string, limit: number): string {
  let bytesLeft = limit * BYTES_PER_TOKEN;
  let end = 0;
  for (const character of text) {
    bytesLeft -= Buffer.byteLength(character);
    if (bytesLeft < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** Splits `text` into the pieces that a stream sends. */
export function splitIntoChunks(text: string): string[] {
  const characters = Array.from(text);
  const chunks: string[] = [];
  for (let at = 0; at < characters.length; at += CHUNK_CHARACTERS) {
    chunks.push(characters.slice(at, at + CHUNK_CHARACTERS).join(""));
  }
  return chunks;
}
