import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { isInstalled } from "../../run/debian-packages.ts";
import { formatCommand, quoteForShell, unquoteShell } from "../../../src/core/text/shell-words.ts";

const AWKWARD = "it's \\ \"$HOME\" `id` !x * # \\' ~\n";

test("a quoted word reaches a POSIX shell unchanged", () => {
  const script = `printf %s ${quoteForShell(AWKWARD)}`;
  assert.equal(execFileSync("sh", ["-c", script], { encoding: "utf8" }), AWKWARD);
});

test("fish escapes only single quotes and backslashes", () => {
  assert.equal(quoteForShell("it's \\ $x", "fish"), String.raw`'it\'s \\ $x'`);
});

test("unquoting inverts quoting, and accepts plain double quotes", () => {
  for (const shell of ["sh", "fish"] as const) {
    assert.equal(unquoteShell(quoteForShell(AWKWARD, shell), shell), AWKWARD);
    assert.equal(unquoteShell('"a b"', shell), "a b");
  }
});

test("unquoting refuses a word that the shell would expand", () => {
  for (const source of ['"$HOME"', '"`id`"', "plain", "'a' b", '"a\\b"']) {
    assert.equal(unquoteShell(source, "sh"), null, source);
  }
});

test("a formatted command quotes only the words that need it", () => {
  assert.equal(formatCommand(["ls", "-l", "/a/b.c", "it's", ""]), String.raw`ls -l /a/b.c 'it'\''s' ''`);
});

test(
  "a formatted command shows no control character, and the shell reads what was meant",
  { skip: !isInstalled("bash") },
  () => {
    const word = "a\nb\u001b[31m\u0085\\n'é";
    const formatted = formatCommand(["printf", "%s", word]);
    assert.match(formatted, /^[^\p{Cc}]+$/u);
    assert.equal(execFileSync("bash", ["-c", formatted], { encoding: "utf8" }), word);
  },
);
