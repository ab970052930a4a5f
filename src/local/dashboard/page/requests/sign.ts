import { howNotCompleted } from "../../../../core/ledger/spend.ts";
import { element } from "../elements.ts";
import type { PricedRecord } from "../feed-types.ts";
import { noteParts } from "../record/note.ts";

const NAMES = { failed: "failed", cut: "cut short", refused: "refused", missed: "missed the cache" };

/** The sign of what is wrong with a request, which stands before its row; its shape says it without its colour. Most have none. */
export function signOf(record: PricedRecord): HTMLElement[] {
  const what = howNotCompleted(record) ?? (noteParts(record).miss === "" ? null : "missed");
  if (what === null) return [];
  const attributes = { role: "img", "aria-label": NAMES[what] };
  return [element("span", { class: `sign ${what}`, title: NAMES[what], attributes })];
}
