import assert from "node:assert/strict";
import { test } from "node:test";
import { layOutFacts, type Fact } from "../../../src/cli/terminal/facts.ts";

const FACTS: readonly Fact[] = [
  ["daemon", "tollkeeper 0.1.0, pid 12, started 3 min ago"],
  ["budget", "$3.00 per day for tool codex, which is the one that everybody uses: 181% spent", "failure"],
  ["", "evil\u001b[2J"],
];

test("at every width words go on under their beginning, and no line is too long", () => {
  for (let width = 60; width <= 240; width += 1) {
    const lines = layOutFacts(FACTS, width, false);
    for (const line of lines) assert.ok(line.length <= width, line);
    assert.match(lines.join(" ").replaceAll(/ +/g, " "), /which is the one that everybody uses: 181% spent/);
    assert.ok(lines.slice(2).every((line) => /^ {12}\S/.test(line)));
  }
});

test("a pipe gets a line for each fact, without control characters of others", () => {
  assert.deepEqual(layOutFacts(FACTS, Infinity, false), [
    "daemon      tollkeeper 0.1.0, pid 12, started 3 min ago",
    "budget      $3.00 per day for tool codex, which is the one that everybody uses: 181% spent",
    "            evil\\u001b[2J",
  ]);
});

test("each line of a text has its colour", () => {
  const [, first = "", second = ""] = layOutFacts(FACTS, 60, true);
  assert.ok(first.startsWith("\u001b[1mbudget\u001b[0m      \u001b[31m"), first);
  assert.ok(second.startsWith("            \u001b[31m"), second);
  for (const line of [first, second]) {
    assert.ok(line.endsWith("\u001b[0m"), line);
  }
});
