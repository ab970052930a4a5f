import assert from "node:assert/strict";
import { test } from "node:test";
import { applyTo, refusalOf, type SettingPair } from "../apply-to.ts";

const NEW: SettingPair = [
  ["models", { where: { name: "ours" } }, "apiBase"],
  "http://127.0.0.1:8655/t/continue/v1",
];
const ITEM = "- name: ours\n    apiBase: http://127.0.0.1:8655/t/continue/v1\n";

const ADDED: [what: string, before: string | null, after: string][] = [
  ["a missing file", null, `models:\n  ${ITEM}`],
  ["an empty file", "", `models:\n  ${ITEM}`],
  ["a file of comments", "# mine\n", `# mine\nmodels:\n  ${ITEM}`],
  ["a document with a start marker", "--- # c\na: 1\n", `--- # c\na: 1\nmodels:\n  ${ITEM}`],
  [
    "a list with comments",
    "models: # all\n  # the first\n  - name: a # one\n    apiBase: 'q' # two\n  # the last\n\nz: 1\n",
    `models: # all\n  # the first\n  - name: a # one\n    apiBase: 'q' # two\n  ${ITEM}  # the last\n\nz: 1\n`,
  ],
  [
    "a list that is not indented",
    "models:\n- name: a\nz: 1\n",
    `models:\n- name: a\n${ITEM.replace("    ", "  ")}z: 1\n`,
  ],
  [
    "a list whose last item ends with a block scalar",
    "models:\n  - name: a\n    text: |\n      long\n\n      text\nz: 1\n",
    `models:\n  - name: a\n    text: |\n      long\n\n      text\n  ${ITEM}z: 1\n`,
  ],
  [
    "a file with CRLF line endings",
    "models:\r\n  - name: a\r\n",
    `models:\r\n  - name: a\r\n  ${ITEM.replaceAll("\n", "\r\n")}`,
  ],
  ["a file without a final line ending", "a: 1", `a: 1\nmodels:\n  ${ITEM.trimEnd()}`],
  ["a key without a value", "models: # none\n# next\nz: 1\n", `models: # none\n  ${ITEM}# next\nz: 1\n`],
  [
    "an empty list",
    "models: []\n",
    'models: [{name: ours, apiBase: "http://127.0.0.1:8655/t/continue/v1"}]\n',
  ],
  [
    "a list on one line",
    "models: [{name: a}] # c\n",
    'models: [{name: a}, {name: ours, apiBase: "http://127.0.0.1:8655/t/continue/v1"}] # c\n',
  ],
  [
    "an existing item",
    "models:\n  - name: ours\n    # c\n    x: 1 # d\nz: 1\n",
    `models:\n  - name: ours\n    # c\n    x: 1 # d\n    apiBase: http://127.0.0.1:8655/t/continue/v1\nz: 1\n`,
  ],
  [
    "an item with another value",
    "models:\n  - name: ours\n    apiBase: 'https://x' # c\n",
    "models:\n  - name: ours\n    apiBase: 'http://127.0.0.1:8655/t/continue/v1' # c\n",
  ],
];

for (const [what, before, after] of ADDED) {
  test(`adds a YAML setting to ${what}`, () => assert.equal(applyTo("yaml", before, NEW), after));
}

test("quotes a block value that a YAML 1.1 or 1.2 parser would not read as a string", () => {
  const values = ["yes", "12", "", "null", "a: b", "# c", "2020-01-01", "it's"];
  const settings = values.map((value, i): SettingPair => [[`k${i}`], value]);
  assert.equal(
    applyTo("yaml", "", ...settings),
    'k0: "yes"\nk1: "12"\nk2: ""\nk3: "null"\nk4: "a: b"\nk5: "# c"\nk6: "2020-01-01"\nk7: it\'s\n',
  );
});

test("quotes a flow key or value that a YAML 1.1 or 1.2 parser would not read as a string", () => {
  assert.equal(
    applyTo("yaml", "e: {a: 1}\n", [["e", "b"], "yes"], [["e", "no"], "on-line"]),
    'e: {a: 1, b: "yes", "no": on-line}\n',
  );
});

test("writes a plain value in place of a plain value where possible", () => {
  assert.equal(
    applyTo("yaml", "openai-api-base: https://x/v1\n", [["openai-api-base"], "http://h/v1"]),
    "openai-api-base: http://h/v1\n",
  );
});

/** A setting in a document that is a list. */
const IN_TOP_LIST: SettingPair = [[{ where: { name: "ours" } }, "extra", "deep"], true];

for (const [what, before, after] of [
  ["no text", null, "- name: ours\n  extra:\n    deep: true\n"],
  ["a text of comments", "# mine\n", "# mine\n- name: ours\n  extra:\n    deep: true\n"],
  ["a list", "- name: theirs\n", "- name: theirs\n- name: ours\n  extra:\n    deep: true\n"],
  ["its item of a list", "- name: ours\n  a: 1\n", "- name: ours\n  a: 1\n  extra:\n    deep: true\n"],
] as const) {
  test(`adds a YAML setting to ${what} at the top`, () =>
    assert.equal(applyTo("yaml", before, IN_TOP_LIST), after));
}

test("refuses a YAML text whose top is a map where a list is needed", () =>
  assert.equal(refusalOf("yaml", "a: 1\n", IN_TOP_LIST), "1:1 the top is not a list"));

test("leaves a YAML text alone in which the setting already has its value", () => {
  const text = `models: [{"name": 'ours', apiBase: 'http://127.0.0.1:8655/t/continue/v1'}]`;
  assert.equal(applyTo("yaml", text, NEW), text);
});

const REFUSED: [text: string, why: string][] = [
  ["a: 1\n\tb: 2\n", "2:1 not YAML: tabs are not allowed as indentation"],
  ["a: 1\na: 2\n", "2:1 not YAML: map keys must be unique"],
  [
    "a: [1\n",
    "2:1 not YAML: flow sequence in block collection must be sufficiently indented and end with a ]",
  ],
  ["a: 1\n---\nb: 2\n", "2:1 the file contains several documents"],
  ["- a\n", "1:1 the top is not an object"],
  ["just text\n", "1:1 the top is neither a map nor a list"],
  ["models: *x\n", "not YAML: unresolved alias (the anchor must be set before the alias)"],
  ["x: &m [{name: a}]\nmodels: *m\n", "2:9 this is an alias of a value defined elsewhere"],
  [
    "models: &m [{name: a}]\ny: *m\n",
    "1:22 models[name=ours].apiBase cannot be set without changing something else",
  ],
  ["models: text\n", "1:9 models is not a list"],
];

for (const [text, why] of REFUSED) {
  test(`refuses the YAML text ${JSON.stringify(text)}: ${why}`, () =>
    assert.equal(refusalOf("yaml", text, NEW), why));
}

test("accepts a YAML text with aliases and merge keys outside the setting's path", () => {
  const text = "x: &m [{name: a}]\nmodels: [{<<: {a: 1}}]\ny: *m\n";
  assert.equal(refusalOf("yaml", text, NEW), "not refused");
});

test("finds a string in a YAML list, and appends it when it is not there", () => {
  const ours: SettingPair = [["only", { item: "ours" }], "ours"];
  const text = "only:\n- theirs   # cheap\n";
  const added = "only:\n- theirs   # cheap\n- ours\n";
  assert.equal(applyTo("yaml", text, ours), added);
  assert.equal(applyTo("yaml", added, ours), added);
  assert.equal(refusalOf("yaml", "only: theirs", ours), "1:7 only is not a list");
});
