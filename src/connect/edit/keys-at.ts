import { secretsIn } from "../../core/secrets/redact.ts";
import { keyIn } from "../../core/secrets/key-shape.ts";
import { Secret } from "../../core/secrets/secret.ts";
import { splitMark } from "./byte-order-mark.ts";
import { languageOf } from "../formats/languages.ts";
import { followSteps, isSame } from "./setting-path.ts";
import type { Format, Setting, Step } from "../../tools/setting.ts";

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
  return stringsBelow(nameOf(at), value).flatMap(({ name, text }) => {
    const key = keyIn(name, text);
    return key === null ? [] : [new Secret(key)];
  });
}

/** Is there anything in a setting's value that is to be kept nowhere? */
export function holdsSecret(at: readonly Step[], value: unknown): boolean {
  return stringsBelow(nameOf(at), value).some(({ name, text }) => secretsIn(name, text).length > 0);
}

/** Everything secret that a whole text says, however it is written there; nothing where there is no text. */
export function secretsOf(text: string | null, format: Format, owner: string): Secret[] {
  if (text === null) return [];
  const top = languageOf(format, owner).read(splitMark(text).body);
  const secrets = stringsBelow("", top).flatMap((one) => secretsIn(one.name, one.text));
  return [...new Set(secrets)].map((secret) => new Secret(secret));
}

function nameOf(at: readonly Step[]): string {
  return at.findLast((step) => typeof step === "string") ?? "";
}

/** Every string in a value, an item of a list by the list's name. */
function stringsBelow(name: string, value: unknown): { name: string; text: string }[] {
  if (typeof value === "string") return [{ name, text: value }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([below, part]) =>
    stringsBelow(Array.isArray(value) ? name : below, part),
  );
}
