import assert from "node:assert/strict";
import { test } from "node:test";
import { applySettings } from "../../../src/connect/edit/apply.ts";
import { TextFault } from "../../../src/connect/formats/language.ts";
import { writeSteps } from "../../../src/connect/edit/setting-path.ts";
import type { Format } from "../../../src/tools/setting.ts";
import { undoSettings } from "../../../src/connect/edit/undo.ts";
import { settingsOf, type Short } from "../apply-to.ts";

const SETTINGS: Short[] = [
  [["env", "BASE"], "http://h"],
  [["env", "TOKEN"], "tk-x"],
];

/** Connects, edits by hand and disconnects. */
function afterEdit(
  format: Format,
  before: string | null,
  edit: (text: string) => string,
  ...shorts: Short[]
) {
  const settings = settingsOf(shorts.length > 0 ? shorts : SETTINGS);
  const { text, undo } = applySettings(before, { format, settings }, "codex");
  const edited = edit(text);
  assert.notEqual(edited, text, "the edit must do something");
  const undone = undoSettings(edited, undo);
  return { text: undone.text, left: undone.left.map(({ at, reason }) => `${writeSteps(at)} ${reason}`) };
}

function replacing(part: string | RegExp, by: string): (text: string) => string {
  return (text) => text.replace(part, by);
}

test("what a person added beside our settings stays, with the parents that we made for ours", () => {
  const edit = replacing('"TOKEN": "tk-x"', '"TOKEN": "tk-x",\n    "MINE": "1"');
  assert.deepEqual(afterEdit("jsonc", '{\n  "a": 1\n}\n', edit), {
    text: '{\n  "a": 1,\n  "env": {\n    "MINE": "1"\n  }\n}\n',
    left: [],
  });
});

test("a setting that a person has changed stays as it is, and is named; the others go", () => {
  assert.deepEqual(afterEdit("jsonc", "{}\n", replacing("http://h", "http://other")), {
    text: '{\n  "env": {\n    "BASE": "http://other"\n  }\n}\n',
    left: ["env.BASE changed"],
  });
});

test("a former value that a person has put back is not touched and not named", () => {
  const before = '{ "env": { "BASE": "http://first", "a": 1 } }';
  const edit = replacing('"http://h", "a": 1', '"http://first", "a": 2');
  assert.deepEqual(afterEdit("jsonc", before, edit), { text: before.replace('"a": 1', '"a": 2'), left: [] });
});

test("settings that a person has taken out are gone already, and so are parents that are empty for it", () => {
  const edit = replacing(/"BASE": "http:\/\/h",\s*/, "");
  assert.deepEqual(afterEdit("jsonc", '{\n  "a": 1\n}\n', edit), { text: '{\n  "a": 1\n}\n', left: [] });
});

test("a former value is put back as it was written, wherever the setting is now", () => {
  const before = '{ "env": { "BASE": "\\u0068ttp:\\/\\/first" } }';
  const edit = replacing('{ "env": ', '// moved\n{\n  "x": 1,\n  "env": ');
  assert.deepEqual(afterEdit("jsonc", before, edit), { text: edit(before), left: [] });
});

const FOLDED = "active_provider: >-\n  openai\nfoo: bar\n";

test("a former value of several lines is put back as it was said, also before a comment that was added", () => {
  const own: Short = [["active_provider"], "anthropic"];
  assert.deepEqual(afterEdit("yaml", FOLDED, replacing("anthropic", "anthropic # n"), own), {
    text: "active_provider: openai # n\nfoo: bar\n",
    left: [],
  });
});

test("a former value of several lines is put back into a file that was rewritten on one", () => {
  const own: Short = [["active_provider"], "anthropic"];
  const rewrite = replacing(/^[^]*$/, '{"active_provider": "anthropic", "foo": "bar"}');
  assert.deepEqual(afterEdit("yaml", FOLDED, rewrite, own), {
    text: '{"active_provider": "openai", "foo": "bar"}',
    left: [],
  });
});

test("of like pieces of text the one that is our setting is taken out", () => {
  const before = '{\n  "copy": {\n    "BASE": "http://h",\n    "TOKEN": "tk-x"\n  }\n}\n';
  const edit = replacing(/^/, '// "env": {\n');
  assert.deepEqual(afterEdit("jsonc", before, edit), { text: edit(before), left: [] });
});

test("a file of ours in which a person has written stays, with what they wrote", () => {
  assert.deepEqual(
    afterEdit("toml", null, (text) => `${text}\n[tui]\na = 1\n`),
    { text: "\n[tui]\na = 1\n", left: [] },
  );
});

test("a file of ours that says nothing else is removed, however it is written now", () => {
  const rewrite = replacing(/\s/g, "");
  assert.deepEqual(afterEdit("jsonc", null, rewrite), { text: null, left: [] });
});

test("a file that was there before stays, though nothing is left in it", () => {
  assert.deepEqual(afterEdit("jsonc", "{}", replacing(/\s/g, "")), { text: "{}", left: [] });
});

test("a text that is as it was already has nothing of ours in it", () => {
  const before = "models:\n- name: a\n";
  const { undo } = applySettings(
    before,
    { format: "yaml", settings: settingsOf([[["models"], "x"]]) },
    "codex",
  );
  assert.deepEqual(undoSettings(before, undo), { text: before, left: [], isExact: true });
});

test("a brace does not get into the comment above what is taken out", () => {
  const edit = replacing(/^[^]*$/, '{ // mine\n  "env": {"BASE": "http://h"}}');
  assert.deepEqual(afterEdit("jsonc", "{}", edit), { text: "{ // mine\n}", left: [] });
});

test("a comment in a table of ours stays", () => {
  const edit = replacing("TOKEN", "# mine\nTOKEN");
  assert.deepEqual(afterEdit("toml", "a = 1\n", edit), { text: "a = 1\n# mine\n", left: [] });
});

test("a null that became a list is one again", () => {
  const own: Short = [["models", { where: { name: "x" } }, "url"], "u"];
  const edit = replacing("a: 1", "a: 2");
  assert.deepEqual(afterEdit("yaml", "models:\n# mine\na: 1\n", edit, own), {
    text: "models:\n# mine\na: 2\n",
    left: [],
  });
});

test("an item of ours that a person has added to stays, without our settings", () => {
  const own: Short = [["models", { where: { name: "x" } }, "url"], "u"];
  const edit = replacing("url: u", "url: u\n    role: chat");
  assert.deepEqual(afterEdit("yaml", "models:\n  - name: a\n", edit, own), {
    text: "models:\n  - name: a\n  - name: x\n    role: chat\n",
    left: [],
  });
});

test("a line that a person put into our block stays when the markers go", () => {
  const edit = replacing("export TOKEN", "echo mine\nexport TOKEN");
  const own: Short[] = [
    [["BASE"], "b"],
    [["TOKEN"], "t"],
  ];
  assert.deepEqual(afterEdit("sh", "a\n", edit, ...own), { text: "a\necho mine\n", left: [] });
});

test("a text that cannot be understood any more is refused, with the place", () => {
  assert.throws(
    () => afterEdit("jsonc", "{}\n", replacing('"tk-x"', '"tk-x')),
    (error) => error instanceof TextFault && error.offset === 50,
  );
});

for (const isFirstFirst of [true, false]) {
  test(`two tools in one file are undone, the ${isFirstFirst ? "first" : "second"} first`, () => {
    const before = "# mine\nfi\n";
    const file = { format: "sh" as const, settings: settingsOf([[["BASE"], "b"]]) };
    const first = applySettings(before, file, "one");
    const second = applySettings(first.text, file, "two");
    const undos = isFirstFirst ? [first.undo, second.undo] : [second.undo, first.undo];
    const after = undos.reduce((text, undo) => undoSettings(text, undo).text ?? "", second.text);
    assert.equal(after, before);
  });
}
