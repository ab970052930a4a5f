import type { HeaderIndex } from "../header-index.ts";

/** Names of AWS's exceptions that say that a credential is of no use. `AccessDeniedException` says that it is, but not for this. */
const REJECTIONS = new Set([
  "ExpiredTokenException",
  "UnrecognizedClientException",
  "InvalidClientTokenId",
  "InvalidSignatureException",
]);

/** How a service rejected a credential. */
interface Rejection {
  /** The service's clock, where that may be why: milliseconds since 1970. Null where it is not. */
  serviceTime: number | null;
}

/**
 * Returns how a response rejects the credential that was sent; null if it does not. Services say so with 401, and AWS with 403 and a name.
 * It has one name for a wrong signature and for one that is too old, and both are rejected for a clock that is wrong.
 */
export function readRejection(status: number, headers: HeaderIndex): Rejection | null {
  if (status === 401) return { serviceTime: null };
  const error = status === 403 ? readErrorName(headers) : "";
  if (!REJECTIONS.has(error)) return null;
  const time = error === "InvalidSignatureException" ? Date.parse(headers.get("date") ?? "") : NaN;
  return { serviceTime: Number.isNaN(time) ? null : time };
}

/** Returns the name of AWS's exception: of `com.amazon.coral#ThrottlingException:http://...` only that (Smithy, AWS restJson1,
 * "Operation error serialization"). */
export function readErrorName(headers: { get(name: string): string | undefined }): string {
  const error = headers.get("x-amzn-errortype")?.split(":", 1)[0] ?? "";
  return error.slice(error.indexOf("#") + 1);
}
