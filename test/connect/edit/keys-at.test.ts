import assert from "node:assert/strict";
import { test } from "node:test";
import { applySettings } from "../../../src/connect/edit/apply.ts";
import { renderDiff } from "../../../src/connect/edit/diff.ts";
import { findKeysAt } from "../../../src/connect/edit/keys-at.ts";
import { writeSteps } from "../../../src/connect/edit/setting-path.ts";
import { undoSettings } from "../../../src/connect/edit/undo.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { refusalOf, settingsOf } from "../apply-to.ts";

const KEY = "sk-ant-api03-Qm9uZGVkIHdhcmVob3VzZSA0MjE3";
const OTHER = "Zm9yZXN0IGxhbnRlcm4gODgyNzE";
const TEXT = `{\n  "env": {\n    "TOKEN": "${KEY}",\n    "OTHER_API_KEY": "${OTHER}",\n    "BASE": "https://x"\n  }\n}\n`;
const FILE = {
  format: "jsonc" as const,
  settings: settingsOf([
    [["env", "TOKEN"], "tk-codex"],
    [["env", "BASE"], "http://h"],
  ]),
};

test("a real key is found where a setting is to be, by itself or by its name, and nowhere else", () => {
  const found = findKeysAt(TEXT, FILE, "codex");
  assert.deepEqual(
    found.map(({ at }) => writeSteps(at)),
    ["env.TOKEN"],
  );
  assert.ok(found[0]?.key.isSameAs(new Secret(KEY)));
  const named = settingsOf([[["env", "OTHER_API_KEY"], "tk-codex"]]);
  assert.equal(findKeysAt(TEXT, { ...FILE, settings: named }, "codex").length, 1);
});

test("a placeholder that is there already is no key", () => {
  const text = '{ "env": { "TOKEN": "tollkeeper-codex-0123456789abcdef" } }';
  assert.deepEqual(findKeysAt(text, FILE, "codex"), []);
});

test("a key within a value that is replaced as a whole is found, too", () => {
  const settings = settingsOf([[["provider"], { apiKey: "x" }]]);
  const text = `provider:\n  options: { apiKey: "${OTHER}" }\n`;
  assert.equal(findKeysAt(text, { format: "yaml", settings }, "codex").length, 1);
});

test("what is kept for undoing holds no key, neither one that was replaced nor one beside it", () => {
  const { undo } = applySettings(TEXT, FILE, "codex");
  const kept = JSON.stringify(undo);
  assert.ok(!kept.includes(KEY) && !kept.includes(OTHER), kept);
});

test("undone, a setting that held a key is left out and named, and the rest is as before", () => {
  const { text, undo } = applySettings(TEXT, FILE, "codex");
  const { text: after, left, isExact } = undoSettings(text, undo);
  assert.equal(after, TEXT.replace(`"TOKEN": "${KEY}",\n    `, ""));
  assert.deepEqual(left, [{ at: ["env", "TOKEN"], reason: "was-key" }]);
  assert.equal(isExact, false);
});

test("a login in the place of a setting is refused, as it could not be had again", () => {
  const text = `{"env": {"TOKEN": "sk-ant-oat01-${OTHER}"}}`;
  assert.equal(
    refusalOf("jsonc", text, [["env", "TOKEN"], "tk-codex"]),
    "1:19 env.TOKEN holds a login, which would be lost",
  );
});

test("a diff shows the lines around each change, keys blotted, and no byte that acts on a terminal", () => {
  const { text } = applySettings(`// \u001b[2J\n${TEXT}`.replaceAll("\n", "\r\n"), FILE, "codex");
  const before = `// \u001b[2J\n${TEXT}`.replaceAll("\n", "\r\n");
  const lines = renderDiff({ before, after: text, secrets: [] });
  assert.deepEqual(lines, [
    "@@ -1,8 +1,8 @@",
    " // \\u001b[2J",
    " {",
    '   "env": {',
    `-    "TOKEN": "${"*".repeat(KEY.length)}",`,
    '+    "TOKEN": "tk-codex",',
    `     "OTHER_API_KEY": "${"*".repeat(OTHER.length)}",`,
    '-    "BASE": "https://x"',
    '+    "BASE": "http://h"',
    "   }",
    " }",
  ]);
});

test("a diff of what does not change is empty", () => {
  assert.deepEqual(renderDiff({ before: TEXT, after: TEXT, secrets: [] }), []);
});
