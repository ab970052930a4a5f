import { hashOf, type Undo, type Written } from "./apply.ts";
import { splitMark } from "./byte-order-mark.ts";
import { applyEdit } from "../formats/language.ts";
import { languageOf } from "../formats/languages.ts";
import { takeOut } from "./take-out.ts";
import type { Step } from "../../tools/setting.ts";

/** A setting that does not become what it was. */
export interface LeftSetting {
  at: readonly Step[];
  /** `changed`: by somebody else, since; it stays. `was-key`: what it held was kept nowhere; it is left out. */
  reason: "changed" | "was-key";
}

export interface Undone {
  /** null: there is nothing left in it that was not ours, and it was not there before. */
  text: string | null;
  left: readonly LeftSetting[];
  /** Is it byte for byte what it was? Otherwise it was edited since. */
  isExact: boolean;
}

/**
 * Takes out of a text what {@link applySettings} wrote. A text that nobody has touched becomes byte for byte what it was;
 * from another only our settings go, as exactly as they are found again, and those stay that have another value now.
 * @throws TextFault where the text cannot be understood any more
 */
export function undoSettings(text: string, undo: Undo): Undone {
  const now = hashOf(text);
  if (now === undo.before) return { text, left: [], isExact: true };
  if (now === undo.after) {
    const before = rewind(text, undo);
    if (undo.before === null && before === "") return { text: null, left: [], isExact: true };
    if (hashOf(before) === undo.before) return { text: before, left: [], isExact: true };
  }
  return takeAllOut(text, undo);
}

/** The last change first, each at its place. */
function rewind(text: string, { written }: Undo): string {
  const { mark, body } = splitMark(text);
  return mark + written.toReversed().reduce(takeBack, body);
}

function takeBack(text: string, { offset, inserted, replaced }: Written): string {
  return applyEdit(text, { offset, length: inserted.length, text: replaced });
}

function takeAllOut(text: string, { format, owner, written, before }: Undo): Undone {
  const language = languageOf(format, owner);
  const { mark, body } = splitMark(text);
  const left: LeftSetting[] = [];
  let now = body;
  for (const one of written.toReversed()) {
    const { text: rest, reason } = takeOut(now, one, language);
    if (reason !== null) left.unshift({ at: one.at, reason });
    now = rest;
  }
  const isOurs = before === null && isBlank(now);
  return { text: isOurs ? null : mark + now, left, isExact: false };
}

/** Nothing in it, or what JSON calls that. */
function isBlank(text: string): boolean {
  return /^\s*(?:\{\s*\}\s*)?$/.test(text);
}
