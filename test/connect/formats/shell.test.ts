import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { applyTo, refusalOf, type SettingPair } from "../apply-to.ts";

const SETTINGS: SettingPair[] = [
  [["A_URL"], "http://h/v1"],
  [["A_KEY"], "tk-codex"],
];
const BLOCK =
  "# >>> tollkeeper codex >>>\nexport A_URL='http://h/v1'\nexport A_KEY='tk-codex'\n# <<< tollkeeper codex <<<\n";

const ADDED: [what: string, before: string | null, after: string][] = [
  ["a missing file", null, BLOCK],
  ["an empty file", "", BLOCK],
  ["a start-up file, at the end", "export A_URL=x # mine\n", `export A_URL=x # mine\n${BLOCK}`],
  ["a file without a final line ending", "fi", `fi\n${BLOCK}`],
  ["a file with CRLF line endings", "a\r\n", `a\r\n${BLOCK.replaceAll("\n", "\r\n")}`],
  [
    "a file with another tool's block",
    BLOCK.replaceAll("codex", "qwen"),
    BLOCK.replaceAll("codex", "qwen") + BLOCK,
  ],
  [
    "an existing block with other lines in it",
    `a\n${BLOCK.replace("export A_KEY='tk-codex'", "# mine")}b\n`,
    `a\n${BLOCK.replace("export A_KEY", "# mine\nexport A_KEY")}b\n`,
  ],
  ["a block with another value", BLOCK.replace("http://h", "http://x"), BLOCK],
];

for (const [what, before, after] of ADDED) {
  test(`adds variables to ${what}`, () => assert.equal(applyTo("sh", before, ...SETTINGS), after));
}

const AWKWARD = "it's \\ \"$HOME\" `id` !x * # \\' ~";

test("quotes values so that sh assigns them unchanged", () => {
  const text = applyTo("sh", "", [["A"], AWKWARD]);
  assert.equal(execFileSync("sh", ["-c", `${text}printf %s "$A"`], { encoding: "utf8" }), AWKWARD);
});

test("writes fish syntax, with its two escapes", () => {
  assert.equal(
    applyTo("fish", "", [["A"], AWKWARD]),
    "# >>> tollkeeper codex >>>\n" +
      "set -gx A 'it\\'s \\\\ \"$HOME\" `id` !x * # \\\\\\' ~'\n# <<< tollkeeper codex <<<\n",
  );
});

const REFUSED: [text: string, why: string][] = [
  [
    "# >>> tollkeeper codex >>>\nexport A_URL='x'\n",
    "1:1 one of the two lines that mark tollkeeper's block is missing",
  ],
  ["a\n# <<< tollkeeper codex <<<\n", "2:1 one of the two lines that mark tollkeeper's block is missing"],
  [BLOCK + BLOCK, "5:1 the file contains tollkeeper's block twice"],
  [BLOCK.replace("A_URL", "A_KEY"), "3:1 A_KEY is set twice"],
];

for (const [text, why] of REFUSED) {
  test(`refuses the start-up file ${JSON.stringify(text)}: ${why}`, () =>
    assert.equal(refusalOf("sh", text, ...SETTINGS), why));
}

test("refuses a value with a line break, a value that is no string, and an invalid variable name", () => {
  assert.equal(refusalOf("sh", "", [["A"], "x\ny"]), "the value of A is not a single line of text");
  assert.equal(refusalOf("sh", "", [["A"], 1]), "the value of A is not a single line of text");
  assert.equal(refusalOf("sh", "", [["A;id"], "x"]), "not a valid variable name");
});
