import assert from "node:assert/strict";
import { test } from "node:test";
import { applySettings } from "../../../src/connect/edit/apply.ts";
import type { Setting } from "../../../src/tools/setting.ts";
import { undoSettings } from "../../../src/connect/edit/undo.ts";

/** As Cline wants it: an entry without the time of its last use makes it throw the whole file away. */
const SETTINGS: Setting[] = [
  { at: ["entry", "key"], value: "tk-x", why: "a test" },
  { at: ["entry", "usedAt"], value: "never", why: "a test", isAnyFine: true },
];

const connect = (text: string | null) =>
  applySettings(text, { format: "jsonc", settings: SETTINGS }, "cline");

test("where any value is fine, one that stands there is left alone", () => {
  const before = '{ "entry": { "usedAt": "today" } }';
  const { text, undo } = connect(before);
  assert.deepEqual(JSON.parse(text), { entry: { usedAt: "today", key: "tk-x" } });
  assert.deepEqual(undoSettings(text, undo), { text: before, left: [], isExact: true });
});

test("where any value is fine, ours goes even if the tool has made another of it", () => {
  const before = '{\n  "other": 1\n}';
  const { text, undo } = connect(before);
  const used = text.replace('"never"', '"today"');
  assert.notEqual(used, text);
  assert.deepEqual(undoSettings(used, undo), { text: before, left: [], isExact: false });
});

test("where any value is fine, null is none", () => {
  const before = '{ "entry": { "usedAt": null } }';
  const { text, undo } = connect(before);
  assert.deepEqual(JSON.parse(text), { entry: { usedAt: "never", key: "tk-x" } });
  assert.equal(undoSettings(text, undo).text, before);
});
