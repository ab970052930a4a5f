import { dayOf } from "./day.ts";
import type { UsageRecord } from "./record.ts";

/** Tells copies of records apart, which a crash can leave. A copy has the `id` and the `ts` of the record, so both are of one day. */
export class CopyDetector {
  #day = "";
  #idsOfDay = new Set<string>();

  /** Returns whether a record is the copy of an earlier one. They are given day after day, so that memory does not grow. */
  isCopy({ id, ts }: Pick<UsageRecord, "id" | "ts">): boolean {
    const day = dayOf(ts);
    if (day !== this.#day) {
      this.#day = day;
      this.#idsOfDay = new Set();
    }
    if (this.#idsOfDay.has(id)) return true;
    this.#idsOfDay.add(copyText(id));
    return false;
  }
}

/** Returns the same text in memory of its own: a part of a line would keep the whole line. */
function copyText(text: string): string {
  return `${text} `.trimEnd();
}
