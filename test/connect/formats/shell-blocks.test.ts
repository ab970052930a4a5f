import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { applySettings } from "../../../src/connect/edit/apply-settings.ts";
import type { UndoRecord } from "../../../src/connect/edit/undo-record.ts";
import { undoSettings } from "../../../src/connect/edit/undo-settings.ts";
import { settingsOf } from "../apply-to.ts";

/** The last line has no line feed: what is appended must not run into it. */
const BEFORE = `export PATH="$HOME/bin:$PATH"\nalias ll="ls -l"`;

const INSTALLED = `export NVM_DIR="$HOME/.nvm"`;

function connect(text: string, owner: string) {
  const settings = settingsOf([
    [["A_URL"], "http://h"],
    [["A_KEY"], "tk"],
  ]);
  return applySettings(text, { format: "sh", settings }, owner);
}

/** Removes the blocks one after another. After each, a shell must accept the rest, and the user's lines must be unchanged. */
function undoInTurn(text: string, undos: readonly UndoRecord[], usersText: string): string {
  return undos.reduce((now, undo) => {
    const { text: after, unrestored } = undoSettings(now, undo);
    assert.ok(after !== null);
    assert.deepEqual(unrestored, []);
    const { status, stderr } = spawnSync("sh", ["-n"], { input: after, encoding: "utf8" });
    assert.deepEqual([status, stderr], [0, ""]);
    const others = after.replaceAll(/^# >>> [^]*?^# <<< .*\n/gm, "");
    assert.deepEqual(linesOf(others), linesOf(usersText));
    return after;
  }, text);
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

for (const isFirstFirst of [true, false]) {
  const order = `the ${isFirstFirst ? "first" : "last"} block first`;

  test(`the blocks of two tools in a file without a final line feed are removed, ${order}, and no lines are joined`, () => {
    const first = connect(BEFORE, "copilot");
    const second = connect(first.text, "sdk");
    const undos = isFirstFirst ? [first.undo, second.undo] : [second.undo, first.undo];
    const after = undoInTurn(second.text, undos, BEFORE);
    assert.equal(after, isFirstFirst ? `${BEFORE}\n` : BEFORE);
  });

  test(`a line that the user added below the blocks of two tools stays a line when they are removed, ${order}`, () => {
    const first = connect(BEFORE, "copilot");
    const second = connect(first.text, "sdk");
    const undos = isFirstFirst ? [first.undo, second.undo] : [second.undo, first.undo];
    undoInTurn(second.text + INSTALLED, undos, `${BEFORE}\n${INSTALLED}`);
  });
}

test("a line that the user added below a block is not joined to the line above the block", () => {
  const { text, undo } = connect(BEFORE, "sdk");
  assert.equal(undoSettings(`${text}${INSTALLED}\n`, undo).text, `${BEFORE}\n${INSTALLED}\n`);
});

test("a line of a block that the user only quoted differently is removed", () => {
  for (const [format, quoted] of [
    ["sh", '"http://h"'],
    ["sh", "http://h"],
    ["fish", '"http://h"'],
  ] as const) {
    const settings = settingsOf([[["A_URL"], "http://h"]]);
    const { text, undo } = applySettings("# mine\n", { format, settings }, "sdk");
    const undone = undoSettings(text.replace("'http://h'", quoted), undo);
    assert.deepEqual([undone.text, undone.unrestored], ["# mine\n", []], quoted);
  }
});

test("a line whose value depends on running it counts as changed by the user", () => {
  for (const value of ["a$B", "a`b`", "a\\b"]) {
    const { text, undo } = applySettings("", { format: "sh", settings: settingsOf([[["A"], value]]) }, "sdk");
    const undone = undoSettings(text.replace(`'${value}'`, `"${value}"`), undo);
    assert.deepEqual(undone.unrestored, [{ keyPath: ["A"], reason: "changed" }], value);
  }
});
