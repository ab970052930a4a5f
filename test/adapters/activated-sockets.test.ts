import assert from "node:assert/strict";
import { test } from "node:test";
import { takeActivatedSockets } from "../../src/adapters/activated-sockets.ts";

const PID = 4711;

for (const [what, env, expected] of [
  ["two sockets for this process", { LISTEN_PID: "4711", LISTEN_FDS: "2", LISTEN_FDNAMES: "a:b" }, [3, 4]],
  ["sockets for another process", { LISTEN_PID: "4712", LISTEN_FDS: "2" }, []],
  ["sockets without a process id", { LISTEN_FDS: "2" }, []],
  ["a count that is not a number", { LISTEN_PID: "4711", LISTEN_FDS: "many" }, []],
  ["no variables", {}, []],
] as const) {
  test(`returns ${expected.length} descriptors for ${what}, and removes the variables from the environment`, () => {
    const all: NodeJS.ProcessEnv = { ...env, HOME: "/home/me" };
    assert.deepEqual(takeActivatedSockets(all, PID), { listening: expected, diagnostics: null });
    assert.deepEqual(all, { HOME: "/home/me" });
  });
}
