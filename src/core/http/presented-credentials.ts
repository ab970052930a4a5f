import type { HeaderIndex } from "./header-index.ts";

/**
 * Returns the credentials of a request from the two headers in which tools send them, `Authorization: Bearer` and
 * `x-api-key` (docs/wire.md section 2; no known client sends `api-key`). The scheme is case-insensitive and followed by one
 * or more spaces (RFC 9110 section 11.4). Other schemes are ignored.
 */
export function readPresentedCredentials(headers: HeaderIndex): string[] {
  const bearer = /^Bearer +(.+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  const key = headers.get("x-api-key");
  return [bearer, key].filter((credential) => credential !== undefined);
}
