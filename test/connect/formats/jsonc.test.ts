import assert from "node:assert/strict";
import { test } from "node:test";
import type { PathSegment } from "../../../src/tools/setting.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";
import { applyTo, refusalOf, type SettingPair } from "../apply-to.ts";

const URL = "http://127.0.0.1:8655/t/claude-code";
const SETTING: SettingPair = [["env", "BASE"], URL];

const ADDED: [what: string, before: string | null, after: string][] = [
  ["a missing file", null, `{\n  "env": {\n    "BASE": "${URL}"\n  }\n}\n`],
  ["an empty file", "", `{\n  "env": {\n    "BASE": "${URL}"\n  }\n}\n`],
  ["a file of white space", " \r\n\r\n", ` \r\n\r\n{\r\n  "env": {\r\n    "BASE": "${URL}"\r\n  }\r\n}\r\n`],
  ["a file of comments only", "// mine", `// mine\n{\n  "env": {\n    "BASE": "${URL}"\n  }\n}\n`],
  ["an empty object", "{}", `{\n  "env": {\n    "BASE": "${URL}"\n  }\n}`],
  ["an object on one line", '{"a": 1}', `{"a": 1, "env": {"BASE": "${URL}"}}`],
  ["a compact object", '{"a":1,"b":2}', `{"a":1,"b":2,"env":{"BASE":"${URL}"}}`],
  ["a compact object without commas", '{"env":{"A":"1"}}', `{"env":{"A":"1","BASE":"${URL}"}}`],
  [
    "an object indented with tabs",
    '{\n\t"env": {\n\t\t"A": "x"\n\t}\n}\n',
    `{\n\t"env": {\n\t\t"A": "x",\n\t\t"BASE": "${URL}"\n\t}\n}\n`,
  ],
  [
    "an object indented with four spaces",
    '{\n    "a": 1\n}',
    `{\n    "a": 1,\n    "env": {\n        "BASE": "${URL}"\n    }\n}`,
  ],
  [
    "a file with CRLF line endings",
    '{\r\n  "a": 1\r\n}\r\n',
    `{\r\n  "a": 1,\r\n  "env": {\r\n    "BASE": "${URL}"\r\n  }\r\n}\r\n`,
  ],
  ["a file with a byte order mark", '\uFEFF{"a": 1}', `\uFEFF{"a": 1, "env": {"BASE": "${URL}"}}`],
  [
    "an object with a trailing comma, which stays where it is",
    '{\n  "env": {\n    "A": "x", // theirs\n  },\n}\n',
    `{\n  "env": {\n    "A": "x", // theirs\n    "BASE": "${URL}"\n  },\n}\n`,
  ],
  [
    "an object with a comment after the last member, which stays there",
    '{ // top\n  "env": {\n    "A": "x" // theirs\n  }\n}\n',
    `{ // top\n  "env": {\n    "BASE": "${URL}",\n    "A": "x" // theirs\n  }\n}\n`,
  ],
  [
    "an object with a commented-out member at the end",
    '{\n  "env": {\n    "A": "x"\n    // "B": "y"\n  }\n}\n',
    `{\n  "env": {\n    "A": "x",\n    "BASE": "${URL}"\n    // "B": "y"\n  }\n}\n`,
  ],
  [
    "an empty object with a comment",
    '{ "env": { /* none */ } }',
    `{ "env": {"BASE": "${URL}" /* none */ } }`,
  ],
  ["a null in place of the object", '{\n  "env": null\n}', `{\n  "env": {\n    "BASE": "${URL}"\n  }\n}`],
  [
    "a member with another value",
    '{\n  "env": {"BASE": "https://x"} // keep\n}',
    `{\n  "env": {"BASE": "${URL}"} // keep\n}`,
  ],
];

for (const [what, before, after] of ADDED) {
  test(`adds a JSON setting to ${what}`, () => assert.equal(applyTo("jsonc", before, SETTING), after));
}

test("leaves a JSON text alone in which every setting already has its value", () => {
  const text = `{"env" :{ "BASE":"${URL}",},} // odd`;
  assert.equal(applyTo("jsonc", text, SETTING), text);
});

function urlOf(name: string): PathSegment[] {
  return ["models", { where: { name } }, "url"];
}

test("finds a JSON list item by its fields, and appends one when there is none", () => {
  const text = '{\n  "models": [\n    { "name": "theirs", "url": "x" },\n    { "name": "ours" }\n  ]\n}\n';
  assert.equal(
    applyTo("jsonc", text, [urlOf("ours"), "u"], [urlOf("new"), "v"]),
    '{\n  "models": [\n    { "name": "theirs", "url": "x" },\n    { "name": "ours", "url": "u" },\n' +
      '    {\n      "name": "new",\n      "url": "v"\n    }\n  ]\n}\n',
  );
});

test("treats __proto__ like any other key", () => {
  assert.equal(applyTo("jsonc", '{"__proto__": {"a": 1}}', [["b"], 2]), '{"__proto__": {"a": 1}, "b": 2}');
});

const REFUSED: [text: string, why: string][] = [
  ['{\n  "a": 1\n  "b": 2\n}', "3:3 not JSON: comma expected"],
  ['{"a": tru}', "1:7 not JSON: invalid symbol"],
  ['{"a": "x}', "1:7 not JSON: unexpected end of string"],
  ["{", "1:2 not JSON: close brace expected"],
  ["[1]", "1:1 the top is not an object"],
  ["12", "1:1 the top is not an object"],
  ['{} {"b": 1}', "1:4 not JSON: end of file expected"],
  ['{"env": {"A": 1,\n"A": 2}}', '2:1 "A" is defined twice'],
  ['{\n  "env": "x"\n}', "2:10 env is not an object"],
  ['{"env": ["x"]}', "1:9 env is not an object"],
];

for (const [text, why] of REFUSED) {
  test(`refuses the JSON text ${JSON.stringify(text)}: ${why}`, () =>
    assert.equal(refusalOf("jsonc", text, SETTING), why));
}

test("finds a string in a JSON list, and appends it when it is not there", () => {
  const ours: SettingPair = [["only", { item: "ours" }], "ours"];
  const text = '{\n  "only": [\n    "theirs" // cheap\n  ]\n}\n';
  const added = '{\n  "only": [\n    "theirs", // cheap\n    "ours"\n  ]\n}\n';
  assert.equal(applyTo("jsonc", text, ours), added);
  assert.equal(applyTo("jsonc", added, ours), added);
  assert.equal(refusalOf("jsonc", '{"only": "theirs"}', ours), "1:10 only is not a list");
});

test("puts a JSON list item behind the comment of the last one, unless that comment holds a key", () => {
  const added = applyTo("jsonc", '{"models": [\n  { "name": "theirs" } // at work\n]}\n', [
    urlOf("ours"),
    "u",
  ]);
  assert.equal(
    added,
    '{"models": [\n  { "name": "theirs" }, // at work\n  {\n    "name": "ours",\n    "url": "u"\n  }\n]}\n',
  );
  const key = sentinelKey();
  assert.equal(
    refusalOf("jsonc", `{"models": [\n  {} // ${key}\n]}`, [urlOf("ours"), "u"]),
    "2:5 models[name=ours].url cannot be added after a comment that contains a key",
  );
});
