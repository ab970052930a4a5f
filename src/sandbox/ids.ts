import { randomBytes } from "node:crypto";

/** An id that no other answer has, in this run or another: a ledger keys on them. */
export function makeId(prefix: string): string {
  return `${prefix}_sandbox${randomBytes(12).toString("hex")}`;
}
