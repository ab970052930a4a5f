import assert from "node:assert/strict";
import { test } from "node:test";
import { applySettings } from "../../../src/connect/edit/apply-settings.ts";
import { DocumentError } from "../../../src/connect/formats/format-editor.ts";
import { formatKeyPath } from "../../../src/connect/edit/key-path.ts";
import type { Format } from "../../../src/tools/setting.ts";
import { undoSettings } from "../../../src/connect/edit/undo-settings.ts";
import { settingsOf, type SettingPair } from "../apply-to.ts";

const SETTINGS: SettingPair[] = [
  [["env", "BASE"], "http://h"],
  [["env", "TOKEN"], "tk-x"],
];

/** Applies settings, edits the text, and undoes the settings. */
function afterEdit(
  format: Format,
  before: string | null,
  edit: (text: string) => string,
  ...pairs: SettingPair[]
) {
  const settings = settingsOf(pairs.length > 0 ? pairs : SETTINGS);
  const { text, undo } = applySettings(before, { format, settings }, "codex");
  const edited = edit(text);
  assert.notEqual(edited, text, "the edit must do something");
  const undone = undoSettings(edited, undo);
  return {
    text: undone.text,
    unrestored: undone.unrestored.map(({ keyPath, reason }) => `${formatKeyPath(keyPath)} ${reason}`),
  };
}

function replacing(part: string | RegExp, by: string): (text: string) => string {
  return (text) => text.replace(part, by);
}

test("keeps what a person added next to our settings, and the objects we created for ours", () => {
  const edit = replacing('"TOKEN": "tk-x"', '"TOKEN": "tk-x",\n    "MINE": "1"');
  assert.deepEqual(afterEdit("jsonc", '{\n  "a": 1\n}\n', edit), {
    text: '{\n  "a": 1,\n  "env": {\n    "MINE": "1"\n  }\n}\n',
    unrestored: [],
  });
});

test("keeps and reports a setting that a person changed, and removes the others", () => {
  assert.deepEqual(afterEdit("jsonc", "{}\n", replacing("http://h", "http://other")), {
    text: '{\n  "env": {\n    "BASE": "http://other"\n  }\n}\n',
    unrestored: ["env.BASE changed"],
  });
});

test("neither touches nor reports a former value that a person restored", () => {
  const before = '{ "env": { "BASE": "http://first", "a": 1 } }';
  const edit = replacing('"http://h", "a": 1', '"http://first", "a": 2');
  assert.deepEqual(afterEdit("jsonc", before, edit), {
    text: before.replace('"a": 1', '"a": 2'),
    unrestored: [],
  });
});

test("accepts that a person removed a setting, and removes the objects that are empty without it", () => {
  const edit = replacing(/"BASE": "http:\/\/h",\s*/, "");
  assert.deepEqual(afterEdit("jsonc", '{\n  "a": 1\n}\n', edit), {
    text: '{\n  "a": 1\n}\n',
    unrestored: [],
  });
});

test("restores a former value as it was written, wherever the setting has moved", () => {
  const before = '{ "env": { "BASE": "\\u0068ttp:\\/\\/first" } }';
  const edit = replacing('{ "env": ', '// moved\n{\n  "x": 1,\n  "env": ');
  assert.deepEqual(afterEdit("jsonc", before, edit), { text: edit(before), unrestored: [] });
});

const FOLDED = "active_provider: >-\n  openai\nfoo: bar\n";

test("restores a former value of several lines as a plain value before a comment that was added", () => {
  const own: SettingPair = [["active_provider"], "anthropic"];
  assert.deepEqual(afterEdit("yaml", FOLDED, replacing("anthropic", "anthropic # n"), own), {
    text: "active_provider: openai # n\nfoo: bar\n",
    unrestored: [],
  });
});

test("restores a former value of several lines in a file that was rewritten as one line", () => {
  const own: SettingPair = [["active_provider"], "anthropic"];
  const rewrite = replacing(/^[^]*$/, '{"active_provider": "anthropic", "foo": "bar"}');
  assert.deepEqual(afterEdit("yaml", FOLDED, rewrite, own), {
    text: '{"active_provider": "openai", "foo": "bar"}',
    unrestored: [],
  });
});

test("removes our setting, not an identical piece of text elsewhere", () => {
  const before = '{\n  "copy": {\n    "BASE": "http://h",\n    "TOKEN": "tk-x"\n  }\n}\n';
  const edit = replacing(/^/, '// "env": {\n');
  assert.deepEqual(afterEdit("jsonc", before, edit), { text: edit(before), unrestored: [] });
});

test("keeps a file that we created and a person wrote to", () => {
  assert.deepEqual(
    afterEdit("toml", null, (text) => `${text}\n[tui]\na = 1\n`),
    { text: "\n[tui]\na = 1\n", unrestored: [] },
  );
});

test("removes a file that we created and that holds nothing else, even if it was reformatted", () => {
  const rewrite = replacing(/\s/g, "");
  assert.deepEqual(afterEdit("jsonc", null, rewrite), { text: null, unrestored: [] });
});

test("keeps a file that existed before, even if it is empty now", () => {
  assert.deepEqual(afterEdit("jsonc", "{}", replacing(/\s/g, "")), { text: "{}", unrestored: [] });
});

test("leaves a text alone that already is what it was before", () => {
  const before = "models:\n- name: a\n";
  const { undo } = applySettings(
    before,
    { format: "yaml", settings: settingsOf([[["models"], "x"]]) },
    "codex",
  );
  assert.deepEqual(undoSettings(before, undo), { text: before, unrestored: [], isExact: true });
});

test("does not move a closing brace into the comment above a removed setting", () => {
  const edit = replacing(/^[^]*$/, '{ // mine\n  "env": {"BASE": "http://h"}}');
  assert.deepEqual(afterEdit("jsonc", "{}", edit), { text: "{ // mine\n}", unrestored: [] });
});

test("keeps a comment in a table that we created", () => {
  const edit = replacing("TOKEN", "# mine\nTOKEN");
  assert.deepEqual(afterEdit("toml", "a = 1\n", edit), { text: "a = 1\n# mine\n", unrestored: [] });
});

test("turns a list that was null before back into null", () => {
  const own: SettingPair = [["models", { where: { name: "x" } }, "url"], "u"];
  const edit = replacing("a: 1", "a: 2");
  assert.deepEqual(afterEdit("yaml", "models:\n# mine\na: 1\n", edit, own), {
    text: "models:\n# mine\na: 2\n",
    unrestored: [],
  });
});

test("keeps a list item that a person added to, without our settings", () => {
  const own: SettingPair = [["models", { where: { name: "x" } }, "url"], "u"];
  const edit = replacing("url: u", "url: u\n    role: chat");
  assert.deepEqual(afterEdit("yaml", "models:\n  - name: a\n", edit, own), {
    text: "models:\n  - name: a\n  - name: x\n    role: chat\n",
    unrestored: [],
  });
});

test("keeps a line that a person put into our shell block, and removes the markers", () => {
  const edit = replacing("export TOKEN", "echo mine\nexport TOKEN");
  const own: SettingPair[] = [
    [["BASE"], "b"],
    [["TOKEN"], "t"],
  ];
  assert.deepEqual(afterEdit("sh", "a\n", edit, ...own), { text: "a\necho mine\n", unrestored: [] });
});

test("refuses a text that can no longer be parsed, and says where", () => {
  assert.throws(
    () => afterEdit("jsonc", "{}\n", replacing('"tk-x"', '"tk-x')),
    (error) => error instanceof DocumentError && error.offset === 50,
  );
});

for (const isFirstFirst of [true, false]) {
  test(`undoes two tools in one file, the ${isFirstFirst ? "first" : "second"} one first`, () => {
    const before = "# mine\nfi\n";
    const file = { format: "sh" as const, settings: settingsOf([[["BASE"], "b"]]) };
    const first = applySettings(before, file, "one");
    const second = applySettings(first.text, file, "two");
    const undos = isFirstFirst ? [first.undo, second.undo] : [second.undo, first.undo];
    const after = undos.reduce((text, undo) => undoSettings(text, undo).text ?? "", second.text);
    assert.equal(after, before);
  });
}
