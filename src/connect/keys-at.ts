import { judgeValue } from "../core/key-shape.ts";
import { Secret } from "../core/secret.ts";
import { splitMark } from "./byte-order-mark.ts";
import { languageOf } from "./formats/languages.ts";
import { followSteps, isSame } from "./places.ts";
import type { Format, Setting, Step } from "./setting.ts";

/** Those of the settings which are to be changed, and whose present value is, or holds, what looks like a real key. */
export function findKeysAt(
  text: string,
  { format, settings }: { format: Format; settings: readonly Setting[] },
  owner: string,
): { at: readonly Step[]; key: Secret }[] {
  const top = languageOf(format, owner).read(splitMark(text).body);
  return settings.flatMap(({ at, value }) => {
    const place = followSteps(top, at);
    const isThere = place.path.length === at.length && !isSame(place.value, value);
    return isThere ? keysIn(at, place.value).map((key) => ({ at, key })) : [];
  });
}

/** The real keys among the strings of a setting's value, judged by themselves and by their names. */
export function keysIn(at: readonly Step[], value: unknown): Secret[] {
  const name = at.findLast((step) => typeof step === "string") ?? "";
  return keysBelow(name, value);
}

function keysBelow(name: string, value: unknown): Secret[] {
  if (typeof value === "string") return judgeValue(name, value, []) === null ? [] : [new Secret(value)];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([below, part]) =>
    keysBelow(Array.isArray(value) ? name : below, part),
  );
}
