import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { stringify } from "yaml";
import { applySettings } from "../../src/connect/edit/apply-settings.ts";
import { undoSettings } from "../../src/connect/edit/undo-settings.ts";
import { readDocument } from "../../src/connect/formats/editor-for.ts";
import type { Setting } from "../../src/tools/setting.ts";

const ITEMS = [
  ["- name: theirs   # cheap", "  edit_format: diff"],
  ["# above", "- name: one", "  a:", "    b: 1"],
  ["- {name: two, url: old}"],
  ["-   name: 'two'", "    a: {}   # inside"],
  ["- name: one"],
];

/** Texts whose top is a list, or that are empty. */
const texts = fc
  .tuple(
    fc.array(fc.constantFrom(...ITEMS), { maxLength: 3 }),
    fc.constantFrom("\n", "\r\n"),
    fc.constantFrom("", "---", "# only a comment"),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([items, lineEnd, first, isEnded, hasMark]) => {
    // A document that only begins is refused.
    const isLeftOut = first === "" || (first === "---" && items.length === 0);
    const lines = [...(isLeftOut ? [] : [first]), ...items.flat()];
    return (hasMark ? "\uFEFF" : "") + lines.join(lineEnd) + (isEnded ? lineEnd : "");
  });

const wanted = fc
  .record({
    name: fc.constantFrom("one", "two"),
    path: fc.constantFrom(["a"], ["extra"], ["extra", "deep"], ["url"]),
    value: fc.constantFrom<Setting["value"]>(true, "http://127.0.0.1:8655", "yes", { x: [1] }),
  })
  .map(({ name, path, value }): Setting => {
    return { keyPath: [{ where: { name } }, ...path], value, purpose: "a test" };
  });

const apply = (text: string | null, setting: Setting) =>
  applySettings(text, { format: "yaml", settings: [setting] }, "aider");

const read = (text: string | null) => readDocument(text ?? "", "yaml", "aider");

test("a setting in a list at the top of a YAML text is undone byte for byte, and written once only", () => {
  fc.assert(
    fc.property(texts, wanted, (text, setting) => {
      const { text: applied, undo } = apply(text, setting);
      assert.deepEqual(undoSettings(applied, undo), { text, unrestored: [], isExact: true });
      assert.equal(apply(applied, setting).text, applied);
    }),
  );
});

test("a setting in a list at the top of a YAML text changes no other data, also when the tool has rewritten the text", () => {
  fc.assert(
    fc.property(texts, wanted, (text, setting) => {
      const { text: applied, undo } = apply(text, setting);
      const rewritten = undoSettings(stringify(read(applied)), undo);
      assert.deepEqual(rewritten.unrestored, []);
      // A text without items has no data, be it a map or a list.
      assert.deepEqual(Object.values(read(rewritten.text)), Object.values(read(text)));
    }),
  );
});
