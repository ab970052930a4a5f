import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { stringify } from "yaml";
import { applySettings } from "../../src/connect/edit/apply-settings.ts";
import { splitByteOrderMark } from "../../src/connect/formats/text-edits.ts";
import { DocumentError } from "../../src/connect/formats/format-editor.ts";
import { editorFor } from "../../src/connect/formats/editor-for.ts";
import type { Format, Setting } from "../../src/tools/setting.ts";
import { undoSettings } from "../../src/connect/edit/undo-settings.ts";
import { documents, edits, settings } from "./documents.ts";

const FORMATS: Format[] = ["jsonc", "toml", "yaml", "sh", "fish"];
const OWNER = "codex";
const RUNS = { numRuns: 150 };

/** The errors that a random document may cause: something is on the path, or cannot be added to as it is written. */
const REFUSALS = / is not an object$| is not a list$|^this is a (?:table|list of tables)/;

/** Returns null for a refusal that is allowed. */
function apply(text: string | null, format: Format, wanted: readonly Setting[]) {
  try {
    return applySettings(text, { format, settings: wanted }, OWNER);
  } catch (error) {
    if (error instanceof DocumentError && REFUSALS.test(error.message)) return null;
    throw error;
  }
}

/** Reformats a document the way tools write their own files. */
const REWRITES = {
  jsonc: (text: string) => JSON.stringify(editorFor("jsonc", OWNER).read(text), null, 4),
  yaml: (text: string) => stringify(editorFor("yaml", OWNER).read(text), { indentSeq: false }),
};

for (const format of ["jsonc", "yaml"] as const) {
  const { read } = editorFor(format, OWNER);
  const cases = fc.record({ text: documents(format), wanted: settings(format) });

  test(`${format}: undoing settings in a file that the tool rewrote restores its data`, () => {
    fc.assert(
      fc.property(cases, ({ text, wanted }) => {
        const applied = apply(text, format, wanted);
        fc.pre(applied !== null && applied.undo.written.length > 0);
        const rewritten = REWRITES[format](splitByteOrderMark(applied.text).body);
        const undone = undoSettings(rewritten, applied.undo);
        assert.deepEqual(read(undone.text ?? ""), read(splitByteOrderMark(text).body));
        assert.deepEqual(undone.unrestored, []);
      }),
      RUNS,
    );
  });
}

for (const format of FORMATS) {
  const cases = fc.record({ text: documents(format), wanted: settings(format) });

  test(`${format}: undoing settings restores any text byte for byte`, () => {
    fc.assert(
      fc.property(cases, ({ text, wanted }) => {
        const applied = apply(text, format, wanted);
        fc.pre(applied !== null);
        assert.deepEqual(undoSettings(applied.text, applied.undo), { text, unrestored: [], isExact: true });
      }),
      RUNS,
    );
  });

  test(`${format}: applying a setting twice changes nothing the second time`, () => {
    fc.assert(
      fc.property(cases, ({ text, wanted }) => {
        const applied = apply(text, format, wanted.slice(0, 1));
        fc.pre(applied !== null);
        const again = apply(applied.text, format, wanted.slice(0, 1));
        assert.equal(again?.text, applied.text);
        assert.deepEqual(again.undo.written, []);
      }),
      RUNS,
    );
  });

  test(`${format}: undoing settings in an edited text leaves the edit and nothing else`, () => {
    fc.assert(
      fc.property(cases, edits(format), ({ text, wanted }, edit) => {
        const applied = apply(text, format, wanted);
        fc.pre(applied !== null);
        const undone = undoSettings(edit(applied.text), applied.undo);
        assert.equal(undone.text, edit(text));
        assert.deepEqual(undone.unrestored, []);
      }),
      RUNS,
    );
  });

  test(`${format}: undoing the settings of a new file removes it`, () => {
    fc.assert(
      fc.property(settings(format), (wanted) => {
        const applied = apply(null, format, wanted);
        fc.pre(applied !== null && applied.undo.written.length > 0);
        assert.equal(undoSettings(applied.text, applied.undo).text, null);
      }),
      RUNS,
    );
  });
}
