/** The nonce of a request. All have the same length, so that none is a prefix of another. */
export const NONCE = /chaos-[0-9a-f]{8}-\d{7}/g;
const NONCE_START = Buffer.from("chaos-");

/** The beginning of every key of a run, so that a part of a key is found as well. */
export const KEY_START = "sk-sentinel-";
const KEY_BYTES = Buffer.from(KEY_START);

/** Longer than any nonce or key prefix. */
const OVERLAP_BYTES = 64;

/** Searches bytes, in any chunks, for nonces and keys. */
export class Searcher {
  readonly nonces = new Set<string>();
  hasKey = false;
  #last: Buffer = Buffer.alloc(0);

  feed(bytes: Buffer): void {
    const text = Buffer.concat([this.#last, bytes]);
    if (text.includes(KEY_BYTES)) this.hasKey = true;
    let at = text.indexOf(NONCE_START);
    while (at !== -1) {
      const [nonce] = text.toString("latin1", at, at + OVERLAP_BYTES).match(NONCE) ?? [];
      if (nonce !== undefined) this.nonces.add(nonce);
      at = text.indexOf(NONCE_START, at + 1);
    }
    this.#last = text.subarray(Math.max(0, text.length - OVERLAP_BYTES));
  }
}
