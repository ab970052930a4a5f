import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addPause,
  encodePauses,
  endPause,
  findPause,
  namePaused,
  parsePauses,
  type Pause,
} from "../../../src/core/policy/pauses.ts";
import { refusePaused } from "../../../src/core/refusals/policy.ts";

const since = "2026-11-23T12:00:00.000Z";
const CODEX: Pause = { kind: "tool", name: "codex", since };
const SMALL: Pause = { kind: "group", name: "small", since };
const ALL: Pause = { kind: "all", since };

for (const [pauses, tool, group, expected] of [
  [[], "codex", null, null],
  [[CODEX], "codex", null, CODEX],
  [[CODEX], "zed", "codex", null],
  [[SMALL], "zed", "small", SMALL],
  [[SMALL], "small", null, null],
  [[SMALL], "zed", null, null],
  [[ALL], "zed", null, ALL],
  [[ALL, SMALL, CODEX], "codex", "small", CODEX],
  [[ALL, SMALL], "codex", "small", SMALL],
] as const) {
  const paused = pauses.map((pause) => ("name" in pause ? `${pause.kind} ${pause.name}` : "all")).join(", ");
  test(`with ${paused || "nothing"} paused, ${tool} of group ${group} is${expected === null ? " not" : ""}`, () => {
    assert.equal(findPause(pauses, tool, group), expected);
  });
}

test("a second pause of the same takes the place of the first, and ends with it", () => {
  const later = { ...CODEX, since: "2026-11-24T12:00:00.000Z" };
  const pauses = addPause(addPause([SMALL], CODEX), later);
  assert.deepEqual(pauses, [SMALL, later]);
  assert.deepEqual(endPause(pauses, { kind: "tool", name: "codex" }), [SMALL]);
  assert.deepEqual(endPause([ALL, CODEX], { kind: "all" }), [CODEX]);
});

test("the refusal says what is paused, since when, and how to go on", () => {
  assert.deepEqual(refusePaused(SMALL), {
    code: "paused",
    problem: "group small is paused",
    command: "tollkeeper resume --group small",
    reason: "a person paused it at 2026-11-23T12:00Z",
  });
  assert.equal(refusePaused(CODEX).command, "tollkeeper resume codex");
  assert.equal(refusePaused(ALL).problem, "everything is paused");
});

test("pauses come back from their file, and nothing comes from any other text", () => {
  const pauses = [CODEX, SMALL, ALL];
  assert.deepEqual(parsePauses(encodePauses(pauses)), pauses);
  for (const text of [
    "",
    "{}",
    '{"v":2,"pauses":[]}',
    '{"v":1}',
    '{"v":1,"pauses":[{"kind":"tool","since":""}]}',
  ])
    assert.equal(parsePauses(text), null, text);
});

test("what is paused is named: for a tool what stops it, otherwise all", () => {
  assert.equal(namePaused([CODEX, SMALL], null, null), "codex, group small");
  assert.equal(namePaused([CODEX, SMALL], "zed", "small"), "group small");
  assert.equal(namePaused([CODEX, SMALL], "zed", null), "");
  assert.equal(namePaused([ALL], "zed", null), "everything");
});
