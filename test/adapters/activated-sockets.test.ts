import assert from "node:assert/strict";
import { test } from "node:test";
import { takeActivatedSockets } from "../../src/adapters/activated-sockets.ts";

const PID = 4711;

for (const [what, env, expected] of [
  ["two sockets for this process", { LISTEN_PID: "4711", LISTEN_FDS: "2", LISTEN_FDNAMES: "a:b" }, [3, 4]],
  ["sockets for another process", { LISTEN_PID: "4712", LISTEN_FDS: "2" }, []],
  ["sockets for nobody in particular", { LISTEN_FDS: "2" }, []],
  ["no number", { LISTEN_PID: "4711", LISTEN_FDS: "many" }, []],
  ["nothing", {}, []],
] as const) {
  test(`${what}: ${expected.length} descriptors, and no child hears of them`, () => {
    const all: NodeJS.ProcessEnv = { ...env, HOME: "/home/me" };
    assert.deepEqual(takeActivatedSockets(all, PID), expected);
    assert.deepEqual(all, { HOME: "/home/me" });
  });
}
