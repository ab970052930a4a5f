import type { HeaderIndex } from "../http/header-index.ts";

/**
 * One row of evidence: a request is the tool's when all patterns of `when` match and no header of `without` is present.
 */
export interface RequestSignature {
  tool: string;
  when: readonly (readonly [header: string, pattern: RegExp])[];
  without: readonly string[];
  /** What the row was recorded from, or where it can be read. */
  source: string;
  /** Day on which that was recorded or read, `YYYY-MM-DD`. */
  date: string;
}

/** Matches every value: the header only has to be present. */
export const PRESENT = /^/;

/** The signatures of everything that is known, each list in the order in which it is tried: the first match counts. */
export interface RequestSignatures {
  tools: readonly RequestSignature[];
  /** These name only the library that an otherwise unknown program is written with. */
  libraries: readonly RequestSignature[];
}

/** Returns the first signature that matches the headers; undefined when none does. */
export function findRequestSignature(
  signatures: readonly RequestSignature[],
  headers: HeaderIndex,
): RequestSignature | undefined {
  // A loop, because each request comes through here: a callback would be allocated for each.
  for (const signature of signatures) if (isMatch(signature, headers)) return signature;
  return undefined;
}

function isMatch({ when, without }: RequestSignature, headers: HeaderIndex): boolean {
  for (const [name, pattern] of when) {
    const value = headers.get(name);
    if (value === undefined || !pattern.test(value)) return false;
  }
  for (const name of without) if (headers.has(name)) return false;
  return true;
}
