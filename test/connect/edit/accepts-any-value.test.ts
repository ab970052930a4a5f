import assert from "node:assert/strict";
import { test } from "node:test";
import { applySettings } from "../../../src/connect/edit/apply-settings.ts";
import type { Setting } from "../../../src/tools/setting.ts";
import { undoSettings } from "../../../src/connect/edit/undo-settings.ts";

/** Like Cline: it discards the whole file when an entry has no time of last use. */
const SETTINGS: Setting[] = [
  { keyPath: ["entry", "key"], value: "tk-x", purpose: "a test" },
  { keyPath: ["entry", "usedAt"], value: "never", purpose: "a test", acceptsAnyValue: true },
];

const connect = (text: string | null) =>
  applySettings(text, { format: "jsonc", settings: SETTINGS }, "cline");

test("a setting that accepts any value keeps an existing value", () => {
  const before = '{ "entry": { "usedAt": "today" } }';
  const { text, undo } = connect(before);
  assert.deepEqual(JSON.parse(text), { entry: { usedAt: "today", key: "tk-x" } });
  assert.deepEqual(undoSettings(text, undo), { text: before, unrestored: [], isExact: true });
});

test("undoing a setting that accepts any value removes it even if the tool changed it", () => {
  const before = '{\n  "other": 1\n}';
  const { text, undo } = connect(before);
  const used = text.replace('"never"', '"today"');
  assert.notEqual(used, text);
  assert.deepEqual(undoSettings(used, undo), { text: before, unrestored: [], isExact: false });
});

test("a setting that accepts any value replaces null", () => {
  const before = '{ "entry": { "usedAt": null } }';
  const { text, undo } = connect(before);
  assert.deepEqual(JSON.parse(text), { entry: { usedAt: "never", key: "tk-x" } });
  assert.equal(undoSettings(text, undo).text, before);
});
