import assert from "node:assert/strict";
import { test } from "node:test";
import { applySettings } from "../../../src/connect/edit/apply-settings.ts";
import { renderDiff } from "../../../src/connect/edit/diff.ts";
import { findOverwrittenKeys } from "../../../src/connect/edit/find-secrets.ts";
import { formatKeyPath } from "../../../src/connect/edit/key-path.ts";
import { undoSettings } from "../../../src/connect/edit/undo-settings.ts";
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

test("finds real keys, by shape or by name, in the settings to be changed and nowhere else", () => {
  const found = findOverwrittenKeys(TEXT, FILE, "codex");
  assert.deepEqual(
    found.map(({ keyPath }) => formatKeyPath(keyPath)),
    ["env.TOKEN"],
  );
  assert.ok(found[0]?.key.isSameAs(new Secret(KEY)));
  const named = settingsOf([[["env", "OTHER_API_KEY"], "tk-codex"]]);
  assert.equal(findOverwrittenKeys(TEXT, { ...FILE, settings: named }, "codex").length, 1);
});

test("does not take an existing placeholder for a key", () => {
  const text = '{ "env": { "TOKEN": "tollkeeper-codex-0123456789abcdef" } }';
  assert.deepEqual(findOverwrittenKeys(text, FILE, "codex"), []);
});

test("finds a key inside an object that is replaced as a whole", () => {
  const settings = settingsOf([[["provider"], { apiKey: "x" }]]);
  const text = `provider:\n  options: { apiKey: "${OTHER}" }\n`;
  assert.equal(findOverwrittenKeys(text, { format: "yaml", settings }, "codex").length, 1);
});

test("the undo record contains no key, neither a replaced one nor another in the file", () => {
  const { undo } = applySettings(TEXT, FILE, "codex");
  const kept = JSON.stringify(undo);
  assert.ok(!kept.includes(KEY) && !kept.includes(OTHER), kept);
});

test("undoing removes and reports a setting that held a key, and restores the rest", () => {
  const { text, undo } = applySettings(TEXT, FILE, "codex");
  const { text: after, unrestored, isExact } = undoSettings(text, undo);
  assert.equal(after, TEXT.replace(`"TOKEN": "${KEY}",\n    `, ""));
  assert.deepEqual(unrestored, [{ keyPath: ["env", "TOKEN"], reason: "was-key" }]);
  assert.equal(isExact, false);
});

test("refuses to overwrite a login, which could not be restored", () => {
  const text = `{"env": {"TOKEN": "sk-ant-oat01-${OTHER}"}}`;
  assert.equal(
    refusalOf("jsonc", text, [["env", "TOKEN"], "tk-codex"]),
    "1:19 env.TOKEN contains a login, which would be lost",
  );
});

test("a diff shows the lines around each change, with keys redacted and control characters escaped", () => {
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

test("the diff of an unchanged file is empty", () => {
  assert.deepEqual(renderDiff({ before: TEXT, after: TEXT, secrets: [] }), []);
});
