import { extractKey } from "../../core/secrets/detect-key.ts";
import { extractSecrets } from "../../core/secrets/redact-text.ts";
import { Secret } from "../../core/secrets/secret.ts";
import type { Format, PathSegment, Setting } from "../../tools/setting.ts";
import { readDocument } from "../formats/editor-for.ts";
import { isEqual, resolveKeyPath } from "./key-path.ts";

/** Returns the real keys in the current values of the settings that are about to change. */
export function findOverwrittenKeys(
  text: string,
  { format, settings }: { format: Format; settings: readonly Setting[] },
  owner: string,
): { keyPath: readonly PathSegment[]; key: Secret; isEmptied: boolean }[] {
  const top = readDocument(text, format, owner);
  return settings.flatMap(({ keyPath, value }) => {
    const resolved = resolveKeyPath(top, keyPath);
    const changes = resolved.path.length === keyPath.length && !isEqual(resolved.value, value);
    if (!changes) return [];
    return findKeys(keyPath, resolved.value).map((key) => ({ keyPath, key, isEmptied: value === "" }));
  });
}

/** Returns the real keys among the strings of a setting's value, recognized by their shape or their name. */
export function findKeys(keyPath: readonly PathSegment[], value: unknown): Secret[] {
  return collectStrings(nameOf(keyPath), value).flatMap(({ name, text }) => {
    const key = extractKey(name, text);
    return key === null ? [] : [new Secret(key)];
  });
}

/** True when a setting's value contains anything that must not be kept. */
export function holdsSecret(keyPath: readonly PathSegment[], value: unknown): boolean {
  return collectStrings(nameOf(keyPath), value).some(
    ({ name, text }) => extractSecrets(name, text).length > 0,
  );
}

/** Returns every secret in these documents, however it is quoted or escaped; null stands for a missing file. */
export function findSecrets(texts: readonly (string | null)[], format: Format, owner: string): Secret[] {
  const secrets = texts
    .flatMap((text) => (text === null ? [] : collectStrings("", readDocument(text, format, owner))))
    .flatMap(({ name, text }) => extractSecrets(name, text));
  return [...new Set(secrets)].map((secret) => new Secret(secret));
}

function nameOf(keyPath: readonly PathSegment[]): string {
  return keyPath.findLast((segment) => typeof segment === "string") ?? "";
}

/** Returns every string in a value with the name of its member; a list item has the name of the list. */
function collectStrings(name: string, value: unknown): { name: string; text: string }[] {
  if (typeof value === "string") return [{ name, text: value }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([member, part]) =>
    collectStrings(Array.isArray(value) ? name : member, part),
  );
}
