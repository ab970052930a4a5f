import assert from "node:assert/strict";
import { applySettings } from "../../src/connect/edit/apply.ts";
import { TextFault } from "../../src/connect/formats/language.ts";
import type { Format, Setting, Step, Value } from "../../src/tools/setting.ts";
import { undoSettings } from "../../src/connect/edit/undo.ts";

/** A setting by its way and its value. */
export type Short = [at: Step[], value: Value];

export function settingsOf(shorts: readonly Short[]): Setting[] {
  return shorts.map(([at, value]) => ({ at, value, why: "a test" }));
}

/** What becomes of a text; the tool is always codex. Undone, it must be what it was. */
export function applyTo(format: Format, text: string | null, ...shorts: Short[]): string {
  const applied = applySettings(text, { format, settings: settingsOf(shorts) }, "codex");
  assert.equal(undoSettings(applied.text, applied.undo).text, text);
  return applied.text;
}

/** Why a text is refused: `2:5 what is wrong`, or without a place. */
export function refusalOf(format: Format, text: string, ...shorts: Short[]): string {
  try {
    applySettings(text, { format, settings: settingsOf(shorts) }, "codex");
  } catch (error) {
    if (!(error instanceof TextFault)) throw error;
    if (error.offset === null) return error.message;
    const before = text.slice(0, error.offset).split("\n");
    return `${before.length}:${(before.at(-1)?.length ?? 0) + 1} ${error.message}`;
  }
  return "not refused";
}
