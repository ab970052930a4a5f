import type { Settings } from "../core/decide/settings.ts";
import type { KeyChoice } from "../core/decide/choose-upstream.ts";
import { AwsKeys } from "../core/secrets/aws-keys.ts";
import type { Secret } from "../core/secrets/secret.ts";
import type { Payload } from "./signing/payload.ts";

/**
 * Loads what signs requests, 23 kB, if a configuration needs it. In advance: later, an upgrade may have replaced the program's files.
 */
export function prepareSigner({ config }: Settings): void {
  if (!Object.values(config.upstreams).some(({ auth }) => auth === "sigv4")) return;
  // A request that needs it fails with the same error.
  import("./signing/aws-signer.ts").catch(() => {});
}

let isLoaded = false;

/** Drops what was derived from access keys, and could sign requests until the end of its day. Never rejects. */
export async function forgetSigningKeys(): Promise<void> {
  if (!isLoaded) return;
  const { dropSigningKeys } = await import("./signing/aws-signer.ts");
  dropSigningKeys();
}

/** True for a request that has to be signed. */
export function isSigned({ route }: Pick<KeyChoice, "route">): boolean {
  return route.auth === "sigv4";
}

/** What a signature is made for, besides headers and body. */
interface Signable {
  upstream: Pick<KeyChoice["upstream"], "region">;
  route: Pick<KeyChoice["route"], "method">;
  path: string;
}

/**
 * Returns the headers of an attempt with its signature, which covers the body exactly as it is sent. That comes last: whatever is changed
 * afterwards makes it invalid.
 * @param headers flat, and complete but for the signature
 * @param at the time, in milliseconds since 1970
 */
export async function signHeaders(
  headers: readonly string[],
  { upstream, route, path }: Signable,
  secret: Secret,
  payload: Payload,
  at: number,
): Promise<string[]> {
  // The configuration lets no other key source serve such an upstream.
  if (!(secret instanceof AwsKeys) || upstream.region === null) throw new Error("nothing to sign with");
  const { signRequest } = await import("./signing/aws-signer.ts");
  isLoaded = true;
  // The length is known now, and chunks of a client's need not be AWS's.
  const framed = hasLength(headers) ? headers : [...headers, "content-length", String(payload.bytes)];
  const request = { method: route.method, path, headers: framed, payload, region: upstream.region, at };
  return [...framed, ...(await signRequest(request, secret))];
}

function hasLength(headers: readonly string[]): boolean {
  return headers.some((name, index) => index % 2 === 0 && name.toLowerCase() === "content-length");
}
