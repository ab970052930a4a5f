import type { Auth } from "../config/config.ts";
import type { Secret } from "../secrets/secret.ts";
import type { HeaderIndex } from "./header-index.ts";

/** Carries a local token where `Authorization` has the login of a plan. Never forwarded, as all that begins with `x-tollkeeper-`. */
export const TOKEN_HEADER = "x-tollkeeper-token";

/**
 * Returns a request's credentials, from `Authorization: Bearer`, `x-api-key` and Google's `x-goog-api-key` (docs/wire.md sections 2 and
 * 12; no known client sends `api-key`), and from our own header for a local token beside the login of a plan. The scheme is case-insensitive and followed by spaces (RFC 9110 section 11.4).
 */
export function readPresentedCredentials(headers: HeaderIndex): string[] {
  const bearer = /^Bearer +(.+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  const key = headers.get("x-api-key");
  return [bearer, key, headers.get("x-goog-api-key"), headers.get(TOKEN_HEADER)].filter(
    (credential) => credential !== undefined,
  );
}

/** Builds the header that carries a key. Only the functions of this file turn a secret into a header. */
export function buildCredentialHeader(auth: Auth, secret: Secret): [name: string, value: string] {
  return auth === "bearer" ? ["authorization", `Bearer ${secret.reveal()}`] : [auth, secret.reveal()];
}

/** Builds a header that carries the secret for a collector, after an authentication scheme if there is one. */
export function buildSecretHeader(
  name: string,
  scheme: string | null,
  secret: Secret,
): [name: string, value: string] {
  return [name, scheme === null ? secret.reveal() : `${scheme} ${secret.reveal()}`];
}

/** Builds the basic-authentication header for an outbound proxy (RFC 7617). `credentials` is `USER:PASSWORD`. */
export function buildProxyCredentialHeader(credentials: Secret): [name: string, value: string] {
  return ["proxy-authorization", `Basic ${Buffer.from(credentials.reveal()).toString("base64")}`];
}
