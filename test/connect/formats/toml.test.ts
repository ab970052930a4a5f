import assert from "node:assert/strict";
import { test } from "node:test";
import type { PathSegment } from "../../../src/tools/setting.ts";
import { applyTo, refusalOf, type SettingPair } from "../apply-to.ts";

const SETTINGS: SettingPair[] = [
  [["model_provider"], "tollkeeper"],
  [["model_providers", "tollkeeper", "base_url"], "http://h"],
  [["model_providers", "tollkeeper", "wire_api"], "responses"],
];
const TABLE = '[model_providers.tollkeeper]\nbase_url = "http://h"\nwire_api = "responses"\n';

const ADDED: [what: string, before: string | null, after: string][] = [
  ["a missing file", null, `model_provider = "tollkeeper"\n\n${TABLE}`],
  ["an empty file", "", `model_provider = "tollkeeper"\n\n${TABLE}`],
  ["a file of comments", "# mine\n", `# mine\nmodel_provider = "tollkeeper"\n\n${TABLE}`],
  [
    "a file without a final line ending",
    "a = 1",
    `a = 1\nmodel_provider = "tollkeeper"\n\n${TABLE.trimEnd()}`,
  ],
  [
    "a file that starts with a table, before its first header",
    "# about all\n\n# about it\n[tui]\na = 1\n",
    `# about all\n\nmodel_provider = "tollkeeper"\n\n# about it\n[tui]\na = 1\n\n${TABLE}`,
  ],
  [
    "a file with top-level keys, after them",
    'model = "x" # keep\n\n[tui]\na = 1\n',
    `model = "x" # keep\nmodel_provider = "tollkeeper"\n\n[tui]\na = 1\n\n${TABLE}`,
  ],
  [
    "a file with CRLF line endings",
    "model = 'x'\r\n[model_providers.other]\r\nname = 'o'\r\n",
    `model = 'x'\r\nmodel_provider = "tollkeeper"\r\n[model_providers.other]\r\nname = 'o'\r\n\r\n${TABLE.replaceAll("\n", "\r\n")}`,
  ],
  [
    "an existing table with comments between its keys",
    "model_provider = 'openai' # was\n[model_providers.tollkeeper]\n  # one\n  name = 'x' # two\n  # three\n\n[z]\nq = 1\n",
    "model_provider = 'tollkeeper' # was\n[model_providers.tollkeeper]\n  # one\n  name = 'x' # two\n" +
      '  base_url = "http://h"\n  wire_api = "responses"\n  # three\n\n[z]\nq = 1\n',
  ],
  [
    "an inline table",
    "model_providers = { other = { name = 'o' } } # c\n[z]\n",
    'model_providers = { other = { name = \'o\' }, tollkeeper = { base_url = "http://h", wire_api = "responses" } } # c\n' +
      'model_provider = "tollkeeper"\n[z]\n',
  ],
  [
    "top-level dotted keys, which a header would define twice",
    "model_providers.tollkeeper.name = 'x'\n[z]\n",
    "model_providers.tollkeeper.name = 'x'\nmodel_providers.tollkeeper.base_url = \"http://h\"\n" +
      'model_providers.tollkeeper.wire_api = "responses"\nmodel_provider = "tollkeeper"\n[z]\n',
  ],
  [
    "dotted keys in a table",
    "model_provider = \"\"\n[model_providers]\ntollkeeper.name = 'x'\n",
    "model_provider = \"tollkeeper\"\n[model_providers]\ntollkeeper.name = 'x'\n" +
      'tollkeeper.base_url = "http://h"\ntollkeeper.wire_api = "responses"\n',
  ],
  [
    "a file with tables above and below the missing one",
    "model_provider = ''\n[model_providers]\na = {x=1}\n\n# two\n[model_providers.b]\nname = \"b\"\n",
    `model_provider = 'tollkeeper'\n[model_providers]\na = {x=1}\n\n# two\n[model_providers.b]\nname = "b"\n\n${TABLE}`,
  ],
  [
    "a file with what looks like a header in a multi-line string",
    'model_provider = """\n[model_providers.tollkeeper]\n"""\n',
    `model_provider = "tollkeeper"\n\n${TABLE}`,
  ],
];

for (const [what, before, after] of ADDED) {
  test(`adds TOML settings to ${what}`, () => assert.equal(applyTo("toml", before, ...SETTINGS), after));
}

function urlOf(name: string): PathSegment[] {
  return ["models", { where: { name } }, "url"];
}

test("finds a table in an array of tables by its fields, and appends one when there is none", () => {
  const text = "[[models]]\nname = 'a'\n[models.more]\nx = 1\n[[models]]\nname = 'b'\n";
  assert.equal(
    applyTo("toml", text, [urlOf("a"), "u"], [urlOf("c"), "v"]),
    "[[models]]\nname = 'a'\nurl = \"u\"\n[models.more]\nx = 1\n[[models]]\nname = 'b'\n\n" +
      '[[models]]\nname = "c"\nurl = "v"\n',
  );
});

test("adds an item to a list of several lines before the comment after the last item", () => {
  const text = "models = [\n  { name = 'a' }, # one\n]\n";
  assert.equal(
    applyTo("toml", text, [urlOf("b"), "u"]),
    'models = [\n  { name = \'a\' }, { name = "b", url = "u" }, # one\n]\n',
  );
});

test("leaves a TOML text alone in which every setting already has its value", () => {
  const text =
    "model_provider='tollkeeper'\nmodel_providers.tollkeeper={base_url='http://h',wire_api=\"responses\"}";
  assert.equal(applyTo("toml", text, ...SETTINGS), text);
});

const REFUSED: [text: string, why: string][] = [
  ["a = 1\nb = \n", "3:1 not TOML: unspecified values are invalid"],
  ["[a]\nx = 1\n[a]\ny = 2\n", "3:2 not TOML: defining a key multiple times is invalid"],
  ["a.b = 1\n[a]\nc = 2\n", "2:2 not TOML: defining a key multiple times is invalid"],
  ["model_providers = 'x'\n", "1:19 model_providers is not an object"],
  ["[model_providers]\ntollkeeper = 2020-01-01\n", "2:14 model_providers.tollkeeper is not an object"],
  ["[model_provider]\n", "1:1 this is a table, but a single value is expected"],
];

for (const [text, why] of REFUSED) {
  test(`refuses the TOML text ${JSON.stringify(text)}: ${why}`, () =>
    assert.equal(refusalOf("toml", text, ...SETTINGS), why));
}

test("finds a string in a TOML list, and appends it when it is not there", () => {
  const ours: SettingPair = [["only", { item: "ours" }], "ours"];
  const text = 'only = [ "theirs" ] # cheap\n';
  const added = 'only = [ "theirs", "ours" ] # cheap\n';
  assert.equal(applyTo("toml", text, ours), added);
  assert.equal(applyTo("toml", added, ours), added);
  assert.equal(refusalOf("toml", 'only = "theirs"', ours), "1:8 only is not a list");
});
