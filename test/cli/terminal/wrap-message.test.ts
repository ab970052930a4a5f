import assert from "node:assert/strict";
import { test } from "node:test";
import { withProgramName } from "../../../src/cli/terminal/program-name.ts";
import { wrapMessage } from "../../../src/cli/terminal/wrap.ts";

const LONG =
  "hint: the running daemon read another file than this command, so nothing that is changed here counts; to replace it, type: tollkeeper service restart";

test("a message that fits stays one line", () => {
  assert.equal(wrapMessage("note: all is well", 80), "note: all is well");
});

test("a long message goes on under the beginning of its text, and its command stays whole on a line of its own", () => {
  assert.deepEqual(wrapMessage(LONG, 50).split("\n"), [
    "hint: the running daemon read another file than",
    "      this command, so nothing that is changed",
    "      here counts; to replace it, type:",
    `      ${withProgramName("tollkeeper service restart")}`,
  ]);
});

test("of two commands each has a line of its own", () => {
  const two =
    "note: the daemon still runs another build; replace it with: tollkeeper service stop, then: tollkeeper serve";
  assert.deepEqual(wrapMessage(two, 60).split("\n"), [
    "note: the daemon still runs another build; replace it with:",
    `      ${withProgramName("tollkeeper service stop")}`,
    `      ${withProgramName("tollkeeper serve")}`,
  ]);
});

test("further lines of a message keep their indent", () => {
  const two =
    "hint: nothing listens on this port\n      or look at what the service has written to its log with: tollkeeper service logs";
  assert.deepEqual(wrapMessage(two, 60).split("\n"), [
    "hint: nothing listens on this port",
    "      or look at what the service has written to its log",
    "      with:",
    `      ${withProgramName("tollkeeper service logs")}`,
  ]);
});

test("a command alone stays whole, whatever its length", () => {
  const command = `  tollkeeper key set --upstream ${"x".repeat(60)}`;
  assert.equal(wrapMessage(`Type:\n${command}`, 40), `Type:\n${withProgramName(command)}`);
});

test("lines are no longer than 100 characters, however wide the terminal is", () => {
  const lines = wrapMessage(`error: ${"word ".repeat(60).trim()}`, 240).split("\n");
  assert.ok(
    lines.every((line) => line.length <= 100) &&
      lines.slice(1).every((line) => line.startsWith("       word")),
  );
});
