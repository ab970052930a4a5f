import type { Edit, Language } from "../formats/language.ts";
import { TextFault } from "../formats/language.ts";
import { followSteps, isSame, itemOf, withValue } from "./setting-path.ts";
import type { Place } from "./setting-path.ts";
import type { Setting, Step, Value } from "../../tools/setting.ts";

/** What gives a setting its value in a text. */
export interface Change {
  edit: Edit;
  /** Where the setting was, or how far the way to it led. */
  place: Place;
  /** What the text says afterwards, if nothing but that is changed. */
  expected: unknown;
}

/** Plans it; null where the setting has its value already. @throws TextFault where something is in the way */
export function planChange(
  text: string,
  { at, value, isAnyFine }: Setting,
  language: Language,
): Change | null {
  const top = language.read(text);
  const place = followSteps(top, at);
  const { path, trouble } = place;
  if (trouble !== null) throw new TextFault(`${path.join(".")} ${trouble}`, language.find(text, path).offset);
  const next = at[path.length];
  const isGood = isAnyFine === true ? place.value !== null : isSame(place.value, value);
  if (next === undefined && isGood) return null;
  if (next === undefined || place.value === null) {
    const below = next === undefined ? value : buildBelow(at.slice(path.length), value);
    return { edit: language.replace(text, path, below), place, expected: withValue(top, path, below) };
  }
  const below = buildBelow(at.slice(path.length + 1), value);
  if (typeof next === "string") {
    const expected = withValue(top, [...path, next], below);
    return { edit: language.add(text, path, next, below), place, expected };
  }
  const item = itemOf(next, below);
  const count = (place.value as readonly unknown[]).length;
  return { edit: language.append(text, path, item), place, expected: withValue(top, [...path, count], item) };
}

/** What a missing part of the way is to hold, so that the rest of it leads to `value`. */
function buildBelow(steps: readonly Step[], value: Value): Value {
  return steps.reduceRight<Value>(
    (below, step) => (typeof step === "string" ? { [step]: below } : [itemOf(step, below)]),
    value,
  );
}
