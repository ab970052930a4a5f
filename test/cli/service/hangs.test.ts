// A service whose daemon does not answer: its manager can still end it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { beside, noLinux, putInstallation } from "./commands.ts";

/** What the manager is told, and what that does to the daemon: it is killed, or answers again like a new one. */
const CASES = [
  { word: "stop", verb: "stop", does: (pid: number) => `kill -KILL ${pid}; ${untilGone(pid)}` },
  { word: "restart", verb: "restart", does: (pid: number) => `kill -CONT ${pid}` },
  { word: "install", verb: "restart", does: (pid: number) => `kill -CONT ${pid}` },
];

/** systemctl waits for that. */
function untilGone(pid: number): string {
  return `while kill -0 ${pid} 2>/dev/null; do sleep 0.02; done`;
}

for (const { word, verb, does } of CASES) {
  test(`service ${word} of a daemon that hangs is done by its manager`, { skip: noLinux }, async (t) => {
    const port = await freePort();
    const daemon = await startDaemon(t, { port });
    const home = beside(t, daemon, {
      systemctl: [{ match: `--user ${verb} *`, does: does(daemon.pid) }],
    });
    putInstallation(home, { configFile: daemon.configFile, port });
    process.kill(daemon.pid, "SIGSTOP");
    const { code, stderr } = await home.service(word);
    assert.equal(code, 0, stderr);
    assert.match(
      home.orders().join("\n"),
      new RegExp(`^systemctl --user ${verb} .*tollkeeper\\.service$`, "m"),
    );
  });
}
