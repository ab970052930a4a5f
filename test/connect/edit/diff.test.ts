import assert from "node:assert/strict";
import { test } from "node:test";
import { renderDiff, shortenLines } from "../../../src/connect/edit/diff.ts";

const LONG = "0123456789".repeat(100);

test("keeps lines of up to 200 characters", () => {
  const lines = [" a", `-${"b".repeat(199)}`, `+${"c".repeat(199)}`];
  assert.deepEqual(shortenLines(lines), lines);
});

test("cuts a long line without a counterpart to its start", () => {
  for (const sign of [" ", "-", "+"]) {
    assert.deepEqual(shortenLines([sign + LONG]), [`${sign}${LONG.slice(0, 200)}…`]);
  }
});

test("cuts long lines that replace each other to their difference and its context", () => {
  const around = LONG.slice(-50);
  assert.deepEqual(shortenLines([`-${LONG}A${LONG}`, `+${LONG}BC${LONG}`]), [
    `-…${around}A${LONG.slice(0, 50)}…`,
    `+…${around}BC${LONG.slice(0, 50)}…`,
  ]);
});

test("cuts a long difference to its start and its end", () => {
  assert.deepEqual(shortenLines([`-x${LONG}y`, "+xy"]), [
    `-x${LONG.slice(0, 50)}…${LONG.slice(-50)}y`,
    "+xy",
  ]);
});

test("compares each removed line with the added line that replaces it", () => {
  const lines = [" x", `-${LONG}A`, `-${LONG}B`, `+${LONG}XX`, `+${LONG}YY`, `+${LONG}`];
  assert.deepEqual(shortenLines(lines), [
    " x",
    `-…${LONG.slice(-50)}A`,
    `-…${LONG.slice(-50)}B`,
    `+…${LONG.slice(-50)}XX`,
    `+…${LONG.slice(-50)}YY`,
    `+${LONG.slice(0, 200)}…`,
  ]);
});

test("the diff of a file of one very long line is short", () => {
  const rest = JSON.stringify(Array.from({ length: 100_000 }, (_, i) => `entry ${i}`));
  const lines = renderDiff({ before: `{"a":${rest}}`, after: `{"a":${rest},"base":"u"}`, secrets: [] });
  assert.ok(lines.join("\n").length < 1000);
  assert.match(lines.join("\n"), /^\+….*,"base":"u"\}$/m);
});

test("the diff of a file that is indented by tabs shows the tabs, and escapes every other control", () => {
  const before = '{\n\t"a": 1\n}\n';
  const after = '{\n\t"a": 1,\n\t"b": "\u001b[2J"\n}\n';
  assert.deepEqual(renderDiff({ before, after, secrets: [] }), [
    "@@ -1,3 +1,4 @@",
    " {",
    '-\t"a": 1',
    '+\t"a": 1,',
    '+\t"b": "\\u001b[2J"',
    " }",
  ]);
});
