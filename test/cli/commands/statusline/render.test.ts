import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_FORMAT, render, type Values } from "../../../../src/cli/commands/statusline/render.ts";

const NONE: Values = {
  session: "",
  today: "",
  cache: "",
  budget: "",
  failing: "",
  paused: "",
  unpriced: "",
  limit: "",
  limits: "",
  model: "",
  directory: "",
};
const SOME: Values = { ...NONE, session: "$0.420", today: "≥$3.10", cache: "87%" };

for (const [format, values, line] of [
  [DEFAULT_FORMAT, SOME, "$0.420 session · ≥$3.10 today · 87% cached"],
  [DEFAULT_FORMAT, { ...NONE, today: "$3.10" }, "$3.10 today"],
  [
    DEFAULT_FORMAT,
    { ...SOME, unpriced: "house-1" },
    "$0.420 session · ≥$3.10 today · 87% cached · without a price: house-1",
  ],
  [
    DEFAULT_FORMAT,
    { ...SOME, budget: "62%" },
    "$0.420 session · ≥$3.10 today · 87% cached · budget 62% spent",
  ],
  [DEFAULT_FORMAT, { ...NONE, today: "$3.10", paused: "codex" }, "paused: codex · $3.10 today"],
  ["{model} in {directory}", { ...NONE, model: "Opus", directory: "app" }, "Opus in app"],
  ["[{session}] #[fg=green]{today}#[default]", SOME, "[$0.420] #[fg=green]≥$3.10#[default]"],
  ["{(|session|)}{<|model|>}", SOME, "($0.420)"],
  ["{sesion} {Today} {} {__proto__} {constructor}", SOME, "{sesion} {Today} {} {__proto__} {constructor}"],
  ["two\n lines", NONE, "two lines"],
  ["{model}", { ...NONE, model: "a\u001B]0;x\u0007\n{today}" }, "a\\u001b]0;x\\u0007\\u000a{today}"],
  ["\u001B[2J{today}", SOME, "\\u001b[2J≥$3.10"],
  ["{green}{today}{reset}", SOME, "\u001B[32m≥$3.10\u001B[0m"],
] as const) {
  test(`${JSON.stringify(format)} draws ${JSON.stringify(line)}`, () => {
    assert.equal(render(format, values, true), line);
  });
}

test("styles are left out where they are not wanted", () => {
  assert.equal(render("{bold}{cyan}{today}{reset}", SOME, false), "≥$3.10");
});
