import assert from "node:assert/strict";
import { test } from "node:test";
import { renderDiff } from "../../../src/connect/edit/diff.ts";
import { shortenLines } from "../../../src/connect/edit/shorten-lines.ts";

const LONG = "0123456789".repeat(100);

test("lines of up to 200 characters stay as they are", () => {
  const lines = [" a", `-${"b".repeat(199)}`, `+${"c".repeat(199)}`];
  assert.deepEqual(shortenLines(lines), lines);
});

test("of a long line that nothing takes the place of, its beginning is shown", () => {
  for (const sign of [" ", "-", "+"]) {
    assert.deepEqual(shortenLines([sign + LONG]), [`${sign}${LONG.slice(0, 200)}…`]);
  }
});

test("of long lines that take one another's place, what differs is shown, with what is around it", () => {
  const around = LONG.slice(-50);
  assert.deepEqual(shortenLines([`-${LONG}A${LONG}`, `+${LONG}BC${LONG}`]), [
    `-…${around}A${LONG.slice(0, 50)}…`,
    `+…${around}BC${LONG.slice(0, 50)}…`,
  ]);
});

test("of a difference that is long by itself, its beginning and its end are shown", () => {
  assert.deepEqual(shortenLines([`-x${LONG}y`, "+xy"]), [
    `-x${LONG.slice(0, 50)}…${LONG.slice(-50)}y`,
    "+xy",
  ]);
});

test("each removed line is compared to the added one that takes its place", () => {
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

test("the diff of a file on one line of megabytes is short", () => {
  const rest = JSON.stringify(Array.from({ length: 100_000 }, (_, i) => `entry ${i}`));
  const lines = renderDiff({ before: `{"a":${rest}}`, after: `{"a":${rest},"base":"u"}`, secrets: [] });
  assert.ok(lines.join("\n").length < 1000);
  assert.match(lines.join("\n"), /^\+….*,"base":"u"\}$/m);
});
