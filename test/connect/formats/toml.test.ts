import assert from "node:assert/strict";
import { test } from "node:test";
import type { Step } from "../../../src/tools/setting.ts";
import { applyTo, refusalOf, type Short } from "../apply-to.ts";

const SETTINGS: Short[] = [
  [["model_provider"], "tollkeeper"],
  [["model_providers", "tollkeeper", "base_url"], "http://h"],
  [["model_providers", "tollkeeper", "wire_api"], "responses"],
];
const TABLE = '[model_providers.tollkeeper]\nbase_url = "http://h"\nwire_api = "responses"\n';

const ADDED: [what: string, before: string | null, after: string][] = [
  ["a missing file", null, `model_provider = "tollkeeper"\n\n${TABLE}`],
  ["an empty file", "", `model_provider = "tollkeeper"\n\n${TABLE}`],
  ["a file of comments", "# mine\n", `# mine\nmodel_provider = "tollkeeper"\n\n${TABLE}`],
  ["a file without a last line end", "a = 1", `a = 1\nmodel_provider = "tollkeeper"\n\n${TABLE.trimEnd()}`],
  [
    "a file that begins with a table, before its first header",
    "# about all\n\n# about it\n[tui]\na = 1\n",
    `# about all\n\nmodel_provider = "tollkeeper"\n\n# about it\n[tui]\na = 1\n\n${TABLE}`,
  ],
  [
    "a file with keys at the top, behind them",
    'model = "x" # keep\n\n[tui]\na = 1\n',
    `model = "x" # keep\nmodel_provider = "tollkeeper"\n\n[tui]\na = 1\n\n${TABLE}`,
  ],
  [
    "CRLF",
    "model = 'x'\r\n[model_providers.other]\r\nname = 'o'\r\n",
    `model = 'x'\r\nmodel_provider = "tollkeeper"\r\n[model_providers.other]\r\nname = 'o'\r\n\r\n${TABLE.replaceAll("\n", "\r\n")}`,
  ],
  [
    "a table that is there, with comments between its keys",
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
    "dotted keys at the top, which a header would define twice",
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
    "tables above and below the one that is missing",
    "model_provider = ''\n[model_providers]\na = {x=1}\n\n# two\n[model_providers.b]\nname = \"b\"\n",
    `model_provider = 'tollkeeper'\n[model_providers]\na = {x=1}\n\n# two\n[model_providers.b]\nname = "b"\n\n${TABLE}`,
  ],
  [
    "what only looks like a header, in a string of several lines",
    'model_provider = """\n[model_providers.tollkeeper]\n"""\n',
    `model_provider = "tollkeeper"\n\n${TABLE}`,
  ],
];

for (const [what, before, after] of ADDED) {
  test(`settings are put into ${what}`, () => assert.equal(applyTo("toml", before, ...SETTINGS), after));
}

function urlOf(name: string): Step[] {
  return ["models", { where: { name } }, "url"];
}

test("a table in a list of tables is found by its fields, and appended where there is none", () => {
  const text = "[[models]]\nname = 'a'\n[models.more]\nx = 1\n[[models]]\nname = 'b'\n";
  assert.equal(
    applyTo("toml", text, [urlOf("a"), "u"], [urlOf("c"), "v"]),
    "[[models]]\nname = 'a'\nurl = \"u\"\n[models.more]\nx = 1\n[[models]]\nname = 'b'\n\n" +
      '[[models]]\nname = "c"\nurl = "v"\n',
  );
});

test("a list on several lines gets its item before the comment behind the last", () => {
  const text = "models = [\n  { name = 'a' }, # one\n]\n";
  assert.equal(
    applyTo("toml", text, [urlOf("b"), "u"]),
    'models = [\n  { name = \'a\' }, { name = "b", url = "u" }, # one\n]\n',
  );
});

test("a text in which every setting has its value already stays as it is", () => {
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
  ["[model_provider]\n", "1:1 this is a table, where a single value is to be"],
];

for (const [text, why] of REFUSED) {
  test(`${JSON.stringify(text)} is refused: ${why}`, () =>
    assert.equal(refusalOf("toml", text, ...SETTINGS), why));
}
