import assert from "node:assert/strict";
import { test } from "node:test";
import { matchCause } from "../../../src/cli/service/failure-cause.ts";

/** Lines from the journal of a real systemd 252, from launchd or from the daemon's log. */
const TRACES: [trace: string, cause: RegExp, hint: RegExp][] = [
  ["error: port 8655 is taken by pid 17 (node x.js)", /port is taken/, /doctor/],
  [
    "tollkeeper.socket: Failed to create listening socket (127.0.0.1:8655): Address already in use",
    /port is taken/,
    /doctor/,
  ],
  ["error: the configuration is not usable", /faults/, /config check/],
  ["error: tollkeeper is already running: pid 3, listening on 127.0.0.1:8655", /by hand/, /service stop/],
  [
    "tollkeeper.service: Failed at step EXEC spawning /gone/node: No such file or directory",
    /not there/,
    /install/,
  ],
  ["failed (exit-code, status 203)", /not there/, /install/],
  ["Error: Cannot find module '/gone/main.js'", /not there/, /install/],
  ["tollkeeper.service: Main process exited, code=exited, status=226/NAMESPACE", /sandbox/, /install/],
  ["failed (exit-code, status 218)", /sandbox/, /install/],
  ["failed (exit-code, status 217)", /sandbox.*kernel refuses/, /install/],
  [
    "tollkeeper.service: Failed at step USER spawning /usr/bin/node: Operation not permitted",
    /sandbox/,
    /install/,
  ],
  [
    "tollkeeper.service: Failed at step NAMESPACE spawning /usr/bin/node: No such file or directory",
    /a directory that it names is gone/,
    /directories made.*install/,
  ],
  ["tollkeeper.service: Failed at step CREDENTIALS spawning /usr/bin/node", /LoadCredential/, /logs/],
];

for (const [trace, cause, hint] of TRACES) {
  test(`recognizes the cause of: ${trace}`, () => {
    const found = matchCause(["activating (auto-restart)", trace]);
    assert.match(found?.what ?? "", cause);
    assert.match(found?.hint ?? "", hint);
  });
}

test("of several matching texts the first one decides, and texts without a known trace have no cause", () => {
  const texts = ["Failed to start.", "status=226/NAMESPACE", "port 1 is taken by pid 2"];
  assert.match(matchCause(texts)?.what ?? "", /sandbox/);
  assert.equal(matchCause(["Failed to start.", "keys are forgotten"]), null);
});
