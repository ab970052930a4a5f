import type { HeaderIndex } from "./header-index.ts";

/**
 * What a request shows in the places where tools put their credential, one or the other or both: `Authorization: Bearer`
 * and `x-api-key` (facts/clients.md section 3; none of its clients sends `api-key`). The scheme is spelled in any case and
 * followed by one space or more (RFC 9110 section 11.4); without it, or with another, it is no credential that we know.
 */
export function presentedCredentials(headers: HeaderIndex): string[] {
  const bearer = /^Bearer +(.+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  const key = headers.get("x-api-key");
  return [bearer, key].filter((credential) => credential !== undefined);
}
