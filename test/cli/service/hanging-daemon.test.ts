// A service whose daemon does not respond. Its manager can still stop it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { homeOfDaemon, noLinux, writeInstallation } from "./service-home.ts";

/** The command of the service manager and its effect: the daemon is killed, or responds again like a new one. */
const CASES = [
  { word: "stop", verb: "stop", does: (pid: number) => `kill -KILL ${pid}; ${untilGone(pid)}` },
  { word: "restart", verb: "restart", does: (pid: number) => `kill -CONT ${pid}` },
  { word: "install", verb: "restart", does: (pid: number) => `kill -CONT ${pid}` },
];

/** Returns a shell loop that waits until a process is gone, as systemctl does. */
function untilGone(pid: number): string {
  return `while kill -0 ${pid} 2>/dev/null; do sleep 0.02; done`;
}

for (const { word, verb, does } of CASES) {
  test(`service ${word} leaves a hanging daemon to the service manager`, { skip: noLinux }, async (t) => {
    const port = await freePort();
    const daemon = await startDaemon(t, { port });
    const home = homeOfDaemon(t, daemon, {
      systemctl: [{ match: `--user ${verb} *`, does: does(daemon.pid) }],
    });
    writeInstallation(home, { configFile: daemon.configFile, port });
    process.kill(daemon.pid, "SIGSTOP");
    const { code, stderr } = await home.service(word);
    assert.equal(code, 0, stderr);
    assert.match(
      home.commands().join("\n"),
      new RegExp(`^systemctl --user ${verb} .*tollkeeper\\.service$`, "m"),
    );
  });
}
