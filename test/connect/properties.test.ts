import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { stringify } from "yaml";
import { applySettings } from "../../src/connect/edit/apply.ts";
import { splitMark } from "../../src/connect/edit/byte-order-mark.ts";
import { TextFault } from "../../src/connect/formats/language.ts";
import { languageOf } from "../../src/connect/formats/languages.ts";
import type { Format, Setting } from "../../src/tools/setting.ts";
import { undoSettings } from "../../src/connect/edit/undo.ts";
import { documents, edits, settings } from "./documents.ts";

const FORMATS: Format[] = ["jsonc", "toml", "yaml", "sh", "fish"];
const OWNER = "codex";
const RUNS = { numRuns: 150 };

/** The ways in which a text may say no: something is in the way, or is written in a way that cannot be added to. */
const REFUSALS = / is not an object$| is not a list$|^this is a (?:table|list of tables)/;

/** null where it is refused for a reason that may be. */
function apply(text: string | null, format: Format, wanted: readonly Setting[]) {
  try {
    return applySettings(text, { format, settings: wanted }, OWNER);
  } catch (error) {
    if (error instanceof TextFault && REFUSALS.test(error.message)) return null;
    throw error;
  }
}

/** As tools write their own files. */
const REWRITES = {
  jsonc: (text: string) => JSON.stringify(languageOf("jsonc", OWNER).read(text), null, 4),
  yaml: (text: string) => stringify(languageOf("yaml", OWNER).read(text), { indentSeq: false }),
};

for (const format of ["jsonc", "yaml"] as const) {
  const { read } = languageOf(format, OWNER);
  const cases = fc.record({ text: documents(format), wanted: settings(format) });

  test(`${format}: where a tool has written its file anew, undoing leaves what it said before`, () => {
    fc.assert(
      fc.property(cases, ({ text, wanted }) => {
        const applied = apply(text, format, wanted);
        fc.pre(applied !== null && applied.undo.written.length > 0);
        const rewritten = REWRITES[format](splitMark(applied.text).body);
        const undone = undoSettings(rewritten, applied.undo);
        assert.deepEqual(read(undone.text ?? ""), read(splitMark(text).body));
        assert.deepEqual(undone.left, []);
      }),
      RUNS,
    );
  });
}

for (const format of FORMATS) {
  const cases = fc.record({ text: documents(format), wanted: settings(format) });

  test(`${format}: what was applied to any text is undone byte for byte`, () => {
    fc.assert(
      fc.property(cases, ({ text, wanted }) => {
        const applied = apply(text, format, wanted);
        fc.pre(applied !== null);
        assert.deepEqual(undoSettings(applied.text, applied.undo), { text, left: [], isExact: true });
      }),
      RUNS,
    );
  });

  test(`${format}: what was applied once is not changed by applying it again`, () => {
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

  test(`${format}: where somebody edited something else meanwhile, undoing leaves that edit and nothing else`, () => {
    fc.assert(
      fc.property(cases, edits(format), ({ text, wanted }, edit) => {
        const applied = apply(text, format, wanted);
        fc.pre(applied !== null);
        const undone = undoSettings(edit(applied.text), applied.undo);
        assert.equal(undone.text, edit(text));
        assert.deepEqual(undone.left, []);
      }),
      RUNS,
    );
  });

  test(`${format}: a new file is removed when everything in it is undone`, () => {
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
