import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { applySettings, type Undo } from "../../src/connect/edit/apply.ts";
import { undoSettings } from "../../src/connect/edit/undo.ts";
import { settingsOf } from "../connect/apply-to.ts";

/** Its last line has no end: what comes behind it must not get into it. */
const BEFORE = `export PATH="$HOME/bin:$PATH"\nalias ll="ls -l"`;

const INSTALLED = `export NVM_DIR="$HOME/.nvm"`;

function connect(text: string, owner: string) {
  const settings = settingsOf([
    [["A_URL"], "http://h"],
    [["A_KEY"], "tk"],
  ]);
  return applySettings(text, { format: "sh", settings }, owner);
}

/** Takes blocks out one after another; each time the rest must be a program that a shell can read, as a person wrote it. */
function undoInTurn(text: string, undos: readonly Undo[], persons: string): string {
  return undos.reduce((now, undo) => {
    const { text: after, left } = undoSettings(now, undo);
    assert.ok(after !== null);
    assert.deepEqual(left, []);
    const { status, stderr } = spawnSync("sh", ["-n"], { input: after, encoding: "utf8" });
    assert.deepEqual([status, stderr], [0, ""]);
    const others = after.replaceAll(/^# >>> [^]*?^# <<< .*\n/gm, "");
    assert.deepEqual(linesOf(others), linesOf(persons));
    return after;
  }, text);
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

for (const isFirstFirst of [true, false]) {
  const order = `the ${isFirstFirst ? "first" : "last"} first`;

  test(`two tools in a file without a last line end go again, ${order}, and no line runs into another`, () => {
    const first = connect(BEFORE, "copilot");
    const second = connect(first.text, "sdk");
    const undos = isFirstFirst ? [first.undo, second.undo] : [second.undo, first.undo];
    const after = undoInTurn(second.text, undos, BEFORE);
    assert.equal(after, isFirstFirst ? `${BEFORE}\n` : BEFORE);
  });

  test(`a line that was added behind two tools' blocks stays one, ${order}`, () => {
    const first = connect(BEFORE, "copilot");
    const second = connect(first.text, "sdk");
    const undos = isFirstFirst ? [first.undo, second.undo] : [second.undo, first.undo];
    undoInTurn(second.text + INSTALLED, undos, `${BEFORE}\n${INSTALLED}`);
  });
}

test("a line that was added behind our block is not joined to the one before it", () => {
  const { text, undo } = connect(BEFORE, "sdk");
  assert.equal(undoSettings(`${text}${INSTALLED}\n`, undo).text, `${BEFORE}\n${INSTALLED}\n`);
});

test("a line of ours that was only quoted anew is ours still", () => {
  for (const [format, quoted] of [
    ["sh", '"http://h"'],
    ["sh", "http://h"],
    ["fish", '"http://h"'],
  ] as const) {
    const settings = settingsOf([[["A_URL"], "http://h"]]);
    const { text, undo } = applySettings("# mine\n", { format, settings }, "sdk");
    const undone = undoSettings(text.replace("'http://h'", quoted), undo);
    assert.deepEqual([undone.text, undone.left], ["# mine\n", []], quoted);
  }
});

test("a value that only running the line could tell is not taken for ours", () => {
  for (const value of ["a$B", "a`b`", "a\\b"]) {
    const { text, undo } = applySettings("", { format: "sh", settings: settingsOf([[["A"], value]]) }, "sdk");
    const undone = undoSettings(text.replace(`'${value}'`, `"${value}"`), undo);
    assert.deepEqual(undone.left, [{ at: ["A"], reason: "changed" }], value);
  }
});
