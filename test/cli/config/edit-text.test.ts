import assert from "node:assert/strict";
import { test } from "node:test";
import { editText, valueInText } from "../../../src/cli/config/edit-text.ts";
import { TEMPLATE } from "../../../src/cli/config/edit-file.ts";
import type { ConfigPath } from "../../../src/core/config/config-path.ts";

const TEXTS: Record<string, string> = {
  "no member": "{}",
  "no member and a line break": "{}\n",
  "the first text that config edit writes": TEMPLATE,
  "the text that setup writes":
    '{\n  "$schema": "./x",\n\n  // Why.\n  "upstreams": {\n    "a": {\n      "baseUrl": "https://a/v1"\n    }\n  },\n\n  // Tools.\n  "tools": {},\n\n  // The end.\n}\n',
  "one line": '{ "upstreams": { "a": { "baseUrl": "https://a/v1" } } }\n',
  "no white space": '{"upstreams":{"a":{"baseUrl":"https://a/v1"}}}',
  tabs: '{\n\t"upstreams": {\n\t\t"a": { "baseUrl": "https://a/v1" },\n\t},\n}\n',
  "carriage returns": '{\r\n  "upstreams": {\r\n    "a": { "baseUrl": "https://a/v1" }\r\n  }\r\n}\r\n',
  "trailing commas and comments":
    '{\n  "upstreams": {\n    "a": { "baseUrl": "https://a/v1" }, // mine\n  }, // end\n  // last\n}\n',
  "a comment behind the last member":
    '{\n    "access": "open",\n    "tools": {\n        "cline": { "brake": "gentle" }, /* a */\n        "*": { "group": "s" } // b\n    },\n    "groups": { "s": {} }\n}',
  "a byte order mark": '\uFEFF{\n  "access": "open"\n}\n',
};

const CHANGES: [path: ConfigPath, value: unknown][] = [
  [["listen", "port"], 8700],
  [["tools", "codex", "budgets"], [{ usd: 20, per: "day" }]],
  [["tools", "codex", "group"], "small"],
  [["groups", "frontier"], { models: ["gpt-5*", "claude-*"] }],
  [["groups", "frontier"], {}],
  [["aliases", "claude-haiku-4-5"], "qwen3-coder"],
  [["tools", "zed", "aliases", "a"], "b"],
  [["tools", "codex", "brake"], "gentle"],
  [["budgets"], [{ usd: 1, per: "day" }]],
  [["projects", "~/code/shop", "budgets"], [{ usd: 1, per: "day" }]],
  [["upstreams", "a", "headers", "x-org"], "1"],
];

for (const [name, text] of Object.entries(TEXTS))
  test(`setting and removing a value in a file with ${name} leaves every byte`, () => {
    for (const [path, value] of CHANGES) {
      // An upstream stays when its last setting goes: its name alone means something.
      if (path[0] === "upstreams" && valueInText(text, ["upstreams", "a"]) === undefined) continue;
      const after = editText(text, path, value);
      assert.deepEqual(valueInText(after, path), value, path.join("."));
      assert.equal(editText(after, path, undefined), text, path.join("."));
    }
  });

test("an item of a list can be added and removed, and the others keep their comments", () => {
  const text =
    '{\n  "budgets": [\n    { "usd": 5, "per": "day" }, // first\n    { "usd": 9, "per": "week" } // second\n  ]\n}\n';
  const after = editText(text, ["budgets", 2], { usd: 1, per: "hour" });
  assert.equal(editText(after, ["budgets", 2], undefined), text);
  assert.match(editText(text, ["budgets", 0], undefined), /"week" } \/\/ second/);
});

test("neighbours keep their layout", () => {
  const text = '{\n  "tools": { "codex": { "key": "codex" } }, // mine\n  "groups": { "small": {} },\n}\n';
  assert.equal(
    editText(text, ["listen", "port"], 8700),
    text.replace(/\n}\n$/, '\n  "listen": {\n    "port": 8700\n  },\n}\n'),
  );
});

test("a new upstream comes after the others, also where a comment follows the last one", () => {
  const text = '{\n  "upstreams": {\n    "a": { "baseUrl": "https://a/v1" } // first\n  }\n}\n';
  const after = editText(text, ["upstreams", "b"], { baseUrl: "https://b/v1" });
  assert.deepEqual(Object.keys(valueInText(after, ["upstreams"]) as object), ["a", "b"]);
});

test("a group, an upstream and switched-on metrics stay when they become empty", () => {
  for (const path of [
    ["groups", "small", "key"],
    ["export", "metrics", "peerUid"],
    ["upstreams", "gateway", "key"],
  ]) {
    const text = editText("{}", path, "x");
    assert.deepEqual(valueInText(editText(text, path, undefined), path.slice(0, -1)), {});
  }
});

test("a section that a comment is about stays when it becomes empty", () => {
  const text =
    '{\n  // What may be spent.\n  "budgets": [{ "usd": 1, "per": "day" }],\n  "access": "open"\n}\n';
  assert.deepEqual(valueInText(editText(text, ["budgets", 0], undefined), ["budgets"]), []);
});

test("a text that is not JSON, and a member of something that has none, are refused", () => {
  assert.throws(() => editText('{ "a": }', ["listen", "port"], 1), /not JSON/);
  assert.throws(() => editText('{ "access": "token" }', ["access", "mode"], "open"), /access has no mode/);
});
