import { findSignatureFault as findFault, type ExpectedSignature } from "../../../src/check/signature.ts";
import type { SeenRequest } from "./scripted-upstream.ts";

export type { KnownKeys } from "../../../src/check/signature.ts";

/** Returns what is wrong with the signature of a request as it arrived; null if it is right. */
export function findSignatureFault(
  { method, url, rawHeaders, body }: Pick<SeenRequest, "method" | "url" | "rawHeaders" | "body">,
  expected: ExpectedSignature,
): string | null {
  return findFault({ method, path: url, headers: rawHeaders, body }, expected);
}
