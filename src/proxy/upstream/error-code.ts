/** Node's, OpenSSL's or a parser's code for an error: one word, where its message may name addresses and more. */
export function codeOf(error: Error): string {
  const code: unknown = Reflect.get(error, "code");
  return typeof code === "string" ? code : "connection closed";
}
