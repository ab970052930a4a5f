/** An upstream's response that is not valid HTTP/1.1. The message is a whole sentence, without a full stop, that quotes nothing of it. */
export class InvalidResponse extends Error {
  override readonly name = "InvalidResponse";
}
