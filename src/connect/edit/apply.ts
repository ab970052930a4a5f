import { createHash } from "node:crypto";
import { redactSecrets } from "../../core/secrets/redact.ts";
import { splitMark } from "./byte-order-mark.ts";
import { applyEdit, TextFault } from "../formats/language.ts";
import type { Language } from "../formats/language.ts";
import { languageOf } from "../formats/languages.ts";
import { holdsSecret, keysIn } from "./keys-at.ts";
import { planChange } from "./plan-change.ts";
import { asJson, followSteps, isObject, isSame, itemOf, writeSteps } from "./setting-path.ts";
import type { Place } from "./setting-path.ts";
import type { Format, Setting, Step, Value } from "../../tools/setting.ts";

/** How one setting was written, so that it can be taken out again. Holds nothing of the file but what was replaced. */
export interface Written {
  at: readonly Step[];
  value: Value;
  /** How many of its steps led to something before; what the others lead to was made. */
  depth: number;
  /**
   * What stood where the first change was made: nothing, a null that had to become an object or list, the setting's
   * former value, or a real key, which is kept nowhere.
   */
  before: "nothing" | "null" | "value" | "key";
  /** What that `value` said; null where there was none. */
  former: Value | null;
  /** What was written, and where, in the text as it was then. */
  offset: number;
  inserted: string;
  replaced: string;
  /** As the setting says. */
  isAnyFine?: true;
}

/** How a text was changed: all that disconnecting needs. */
export interface Undo {
  format: Format;
  /** The tool, whose block it is in a shell's start-up file. */
  owner: string;
  /** SHA-256 of the text as it was, in hexadecimal; null where there was no file. */
  before: string | null;
  /** SHA-256 of the text as it became. */
  after: string;
  /** In the order in which they were written; those which had their value already are left out. */
  written: readonly Written[];
}

/**
 * Gives settings their values in a text; null stands for a file that is not there. What has its value already is not
 * touched, and neither is anything else: after each change the text is read again and compared.
 * @throws TextFault where the text cannot be understood, or something is in the way
 */
export function applySettings(
  text: string | null,
  { format, settings }: { format: Format; settings: readonly Setting[] },
  owner: string,
): { text: string; undo: Undo } {
  const language = languageOf(format, owner);
  const { mark, body } = splitMark(text ?? "");
  const top = language.read(body);
  const written: Written[] = [];
  let now = body;
  for (const setting of settings) {
    const origin = followSteps(top, setting.at);
    const applied = inOriginal(written, () => applySetting(now, setting, language, origin));
    if (applied === null) continue;
    written.push(applied.written);
    now = applied.text;
  }
  const after = mark + now;
  const before = text === null ? null : hashOf(text);
  return { text: after, undo: { format, owner, before, after: hashOf(after), written } };
}

interface Applied {
  text: string;
  written: Written;
}

/** SHA-256, in hexadecimal. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A fault is told by its place in the text that the person knows, without what we have written before. */
function inOriginal<Result>(written: readonly Written[], work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TextFault) || error.offset === null) throw error;
    const offset = written.toReversed().reduce(offsetBefore, error.offset);
    throw new TextFault(error.message, offset);
  }
}

function offsetBefore(at: number, { offset, inserted, replaced }: Written): number {
  if (at < offset + inserted.length) return Math.min(at, offset);
  return at - inserted.length + replaced.length;
}

/** Plans and proves one change; null where there is none. `origin`: where the setting was before all of ours. */
function applySetting(text: string, asked: Setting, language: Language, origin: Place): Applied | null {
  const setting = { ...asked, value: completeValue(asked) };
  const change = planChange(text, setting, language);
  if (change === null) return null;
  const { edit, place, expected } = change;
  const after = applyEdit(text, edit);
  if (!isSame(language.read(after), expected)) {
    const message = `${writeSteps(setting.at)} cannot be set without changing something else`;
    throw new TextFault(message, edit.offset);
  }
  const replaced = text.slice(edit.offset, edit.offset + edit.length);
  const before = judgeFormer(setting, place, origin, edit.offset, replaced);
  const written: Written = {
    at: setting.at,
    value: setting.value,
    depth: origin.path.length,
    before,
    former: before === "value" ? asJson(place.value) : null,
    offset: edit.offset,
    inserted: edit.text,
    replaced: before === "key" ? "" : replaced,
    ...(setting.isAnyFine === true && { isAnyFine: true }),
  };
  return { text: after, written };
}

/** An item of a list keeps the fields by which it is found. */
function completeValue({ at, value }: Setting): Value {
  const last = at.at(-1);
  return typeof last === "object" && isObject(value) ? itemOf(last, value) : value;
}

/** @throws TextFault where the former value is a login, which could neither be kept nor be had again */
function judgeFormer(
  { at }: Setting,
  { path, value }: Place,
  origin: Place,
  offset: number,
  replaced: string,
): Written["before"] {
  if (path.length < at.length) return origin.value === null ? "null" : "nothing";
  if (keysIn(at, value).length > 0) return "key";
  if (!holdsSecret(at, value) && redactSecrets(replaced, []) === replaced) return "value";
  throw new TextFault(`${writeSteps(at)} holds a login, which would be lost`, offset);
}
