import type { Written } from "./apply.ts";
import { applyEdit, TextFault } from "../formats/language.ts";
import type { Language, Path } from "../formats/language.ts";
import { asJson, followSteps, isEmptyWithout, isSame, withValue, writeSteps } from "./setting-path.ts";
import type { LeftSetting } from "./undo.ts";

/** A text without one setting of ours, and why it did not become what it was. */
interface Rest {
  text: string;
  reason: LeftSetting["reason"] | null;
}

/** Takes one setting out of a text that may have been edited since, or gives it its former value back. */
export function takeOut(text: string, written: Written, language: Language): Rest {
  const { path, value } = followSteps(language.read(text), written.at);
  const isThere = path.length === written.at.length;
  if (!isThere) return { text, reason: written.before === "value" ? "changed" : null };
  if (!isSame(value, written.value) && written.isAnyFine !== true) {
    const { offset, length } = language.find(text, path);
    const isBack = written.before === "value" && text.slice(offset, offset + length) === written.replaced;
    return { text, reason: isBack ? null : "changed" };
  }
  if (written.before === "value") return { text: putBack(text, written, path, language), reason: null };
  const rest = drop(text, written, path, language);
  return { text: rest, reason: written.before === "key" ? "was-key" : null };
}

/** The former value in the place of ours: as it was written or, where it would say something else there, written anew. */
function putBack(text: string, written: Written, path: Path, language: Language): string {
  const isRight = (candidate: string) => isPutBack(candidate, text, written, path, language);
  const exact = exactlyWithout(text, written, path, language, isRight);
  if (exact !== null) return exact;
  const asWritten = applyEdit(text, { ...language.find(text, path), text: written.replaced });
  if (isRight(asWritten)) return asWritten;
  const anew = applyEdit(text, language.replace(text, path, written.former));
  if (isRight(anew)) return anew;
  throw new TextFault(`the former value of ${writeSteps(written.at)} cannot be put back`, null);
}

/** Together with what was made on the way to it, as far as nothing else is in there. */
function drop(text: string, written: Written, path: Path, language: Language): string {
  const top = language.read(text);
  const gone = outermost(top, written, path);
  const isNull = written.before === "null" && gone.length === written.depth;
  const expected = withValue(top, gone, isNull ? null : undefined);
  const isRight = (candidate: string) => isReadAs(candidate, expected, language);
  const exact = exactlyWithout(text, written, path, language, isRight);
  if (exact !== null) return exact;
  const plain = isNull ? applyEdit(text, language.replace(text, gone, null)) : language.remove(text, gone);
  if (isRight(plain)) return plain;
  throw new TextFault(`${writeSteps(written.at)} cannot be taken out without changing something else`, null);
}

/** The path to the outermost thing that we made and that holds nothing but the setting; or to the null that we filled. */
function outermost(top: unknown, { at, depth, before }: Written, path: Path): Path {
  const first = before === "null" ? depth - 1 : depth;
  let last = path.length - 1;
  while (last > first) {
    const { value: container } = followSteps(top, at.slice(0, last));
    const key = path[last];
    if (key === undefined || !isEmptyWithout(container, key, at[last - 1])) break;
    last -= 1;
  }
  return path.slice(0, last + 1);
}

/** With exactly those characters taken back that were written then; null where they do not stand around the setting any more. */
function exactlyWithout(
  text: string,
  { inserted, replaced }: Written,
  path: Path,
  language: Language,
  isRight: (candidate: string) => boolean,
): string | null {
  const { offset, length } = language.find(text, path);
  const first = Math.max(0, offset + length - inserted.length);
  for (
    let at = text.indexOf(inserted, first);
    at !== -1 && at <= offset;
    at = text.indexOf(inserted, at + 1)
  ) {
    const candidate = applyEdit(text, { offset: at, length: inserted.length, text: replaced });
    if (isRight(candidate)) return candidate;
  }
  return null;
}

function isReadAs(text: string, expected: unknown, language: Language): boolean {
  return isSame(readOr(text, language), expected);
}

/** Has the setting its former value, and everything else the one that it had? */
function isPutBack(
  text: string,
  before: string,
  { at, former }: Written,
  path: Path,
  language: Language,
): boolean {
  const top = readOr(text, language);
  const place = followSteps(top, at);
  const isFormer = place.path.length === at.length && isSame(asJson(place.value), former);
  return isFormer && isSame(withValue(top, path, null), withValue(language.read(before), path, null));
}

/** null where it cannot be read. */
function readOr(text: string, language: Language): unknown {
  try {
    return language.read(text);
  } catch (error) {
    if (error instanceof TextFault) return null;
    throw error;
  }
}
