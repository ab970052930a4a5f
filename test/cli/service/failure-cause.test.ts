import assert from "node:assert/strict";
import { test } from "node:test";
import { matchCause, type CauseKind } from "../../../src/cli/service/failure-cause.ts";

/** Lines from the journal of a real systemd 252, from Node, from launchd or from the daemon's log. */
const TRACES: [trace: string, kind: CauseKind][] = [
  ["error: port 8655 is taken by pid 17 (node x.js)", "port"],
  ["tollkeeper.socket: Failed to create listening socket (127.0.0.1:8655): Address already in use", "port"],
  ["error: the configuration is not usable", "configuration"],
  ["error: tollkeeper is already running: pid 3, listening on 127.0.0.1:8655", "manual-daemon"],
  ["hint: remove --inspect from NODE_OPTIONS and from node's arguments, and start again", "node-settings"],
  ["error: Node's inspector is open, and would show the key to anyone who connects", "node-settings"],
  ["error: under NODE_DEBUG Node would print the key", "node-settings"],
  ["/usr/bin/node: --bogus is not allowed in NODE_OPTIONS", "node-settings"],
  ["tollkeeper.service: Failed at step EXEC spawning /gone/node: No such file or directory", "program"],
  ["failed (exit-code, status 203)", "program"],
  ["Error: Cannot find module '/gone/main.js'", "program"],
  ["tollkeeper.service: Main process exited, code=exited, status=226/NAMESPACE", "sandbox"],
  ["failed (exit-code, status 218)", "sandbox"],
  ["failed (exit-code, status 217)", "sandbox"],
  ["tollkeeper.service: Failed at step USER spawning /usr/bin/node: Operation not permitted", "sandbox"],
  ["tollkeeper.service: Failed at step CREDENTIALS spawning /usr/bin/node", "credential"],
  ["failed (exit-code, status 243)", "credential"],
  ["tollkeeper.service: Main process exited, code=exited, status=200/CHDIR", "definition"],
  ["tollkeeper.service: Failed to run 'start' task: No such file or directory", "definition"],
  [
    "tollkeeper.service was skipped because of an unmet condition check (ConditionPathExists=/gone).",
    "definition",
  ],
];

for (const [trace, kind] of TRACES) {
  test(`recognizes the cause of: ${trace}`, () => {
    assert.equal(matchCause(["activating (auto-restart)", trace])?.kind, kind);
  });
}

test("of several matching texts the first one decides, and texts without a known trace have no cause", () => {
  const texts = ["Failed to start.", "status=226/NAMESPACE", "port 1 is taken by pid 2"];
  assert.equal(matchCause(texts)?.kind, "sandbox");
  assert.equal(matchCause(["Failed to start.", "reloaded configuration and keys"]), null);
});
