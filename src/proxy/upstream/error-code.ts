/** Returns an error's code: Node's, OpenSSL's or the HTTP parser's. Unlike the message, it contains no addresses. */
export function codeOf(error: Error): string {
  const code: unknown = Reflect.get(error, "code");
  return typeof code === "string" ? code : "connection closed";
}
