import assert from "node:assert/strict";
import { applySettings } from "../../src/connect/edit/apply-settings.ts";
import { DocumentError } from "../../src/connect/formats/format-editor.ts";
import type { Format, Setting, PathSegment, Value } from "../../src/tools/setting.ts";
import { undoSettings } from "../../src/connect/edit/undo-settings.ts";

/** A setting, as its key path and value. */
export type SettingPair = [at: PathSegment[], value: Value];

export function settingsOf(pairs: readonly SettingPair[]): Setting[] {
  return pairs.map(([at, value]) => ({ keyPath: at, value, purpose: "a test" }));
}

/** Applies settings of the tool codex, asserts that undoing them restores the text, and returns the result. */
export function applyTo(format: Format, text: string | null, ...pairs: SettingPair[]): string {
  const applied = applySettings(text, { format, settings: settingsOf(pairs) }, "codex");
  assert.equal(undoSettings(applied.text, applied.undo).text, text);
  return applied.text;
}

/** Returns why settings cannot be applied: `2:5 MESSAGE`, or only the message where no position is known. */
export function refusalOf(format: Format, text: string, ...pairs: SettingPair[]): string {
  try {
    applySettings(text, { format, settings: settingsOf(pairs) }, "codex");
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    if (error.offset === null) return error.message;
    const before = text.slice(0, error.offset).split("\n");
    return `${before.length}:${(before.at(-1)?.length ?? 0) + 1} ${error.message}`;
  }
  return "not refused";
}
