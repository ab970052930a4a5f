import { randomBytes } from "node:crypto";

/** Returns an id that is unique across runs, because ledgers use such ids as keys. */
export function makeId(prefix: string, separator: "_" | "-" = "_"): string {
  return `${prefix}${separator}sandbox${randomBytes(12).toString("hex")}`;
}
