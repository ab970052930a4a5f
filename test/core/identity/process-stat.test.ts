import assert from "node:assert/strict";
import { test } from "node:test";
import { parseStat } from "../../../src/core/identity/process-stat.ts";

/** A line as Linux 6 writes it, up to field 24. */
const line = (name: string) =>
  `4711 (${name}) S 4242 4711 4711 34816 4711 4194304 900 0 0 0 5 2 0 0 20 0 11 0 987654 1400000000 12000\n`;

for (const name of ["node", "tmux: server", "a b", ") S 1 1 (", ") (", "", "("]) {
  test(`parses state, parent and start time after the name "${name}"`, () => {
    assert.deepEqual(parseStat(line(name)), { name, state: "S", parent: 4242, startedAt: "987654" });
  });
}

for (const cut of ["", "4711", "4711 (node", "4711 (node) S 4242 4711"]) {
  test(`returns null for a line truncated to "${cut}"`, () => assert.equal(parseStat(cut), null));
}
