import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { assertComplete, holdStreams } from "../../helpers/client/many-streams.ts";
import { RUNNING } from "../../service/systemd/stub-systemd.ts";
import { homeWithSystemd, noLinux, writeInstallation } from "./service-home.ts";

test("service stop stops both units and says when the service starts again", { skip: noLinux }, async (t) => {
  const home = homeWithSystemd(t, { service: RUNNING });
  writeInstallation(home);
  const { code, stderr } = await home.service("stop");
  assert.equal(code, 0);
  assert.match(stderr, /^note: it starts again at the next login/);
  assert.deepEqual(home.commands(), ["systemctl --user stop tollkeeper.socket tollkeeper.service"]);
});

test(
  "service stop drains a manually started daemon, with or without a service manager",
  { skip: noLinux },
  async (t) => {
    for (const systemctl of [[], [{ match: "*", code: 127 }]]) {
      const daemon = await startDaemon(t);
      const home = homeWithSystemd(t, { systemctl }, daemon.home);
      const { code, stdout, stderr } = await home.service("stop");
      assert.equal(code, 0, stderr);
      assert.match(
        stdout,
        new RegExp(`^the daemon that was started by hand, pid ${daemon.pid}, has stopped$`, "m"),
      );
      assert.equal(await daemon.ended, 0);
    }
  },
);

test(
  "service stop waits for the open exchanges of a manually started daemon, even one that is already stopping",
  { skip: noLinux },
  async (t) => {
    const streams = await holdStreams(t);
    const daemon = await startDaemon(t, { config: streams.config });
    const clients = await streams.open(daemon.port, 1);
    const { service } = homeWithSystemd(t, {}, daemon.home);
    const ended: string[] = [];
    const first = service("stop").finally(() => ended.push("first"));
    await daemon.waitForOutput(/"msg":"stopping/);
    const second = service("stop");
    // If the first stop did not wait, it would be done by the time this command ends.
    const { stdout } = await service("stop", "--dry-run");
    assert.match(stdout, new RegExp(`^stop the daemon that was started by hand, pid ${daemon.pid}, `));
    assert.deepEqual([ended, (await daemon.status()).openExchanges], [[], 1]);
    streams.finish();
    await assertComplete(clients);
    const [one, two] = [await first, await second];
    assert.deepEqual([one.code, two.code], [0, 0], one.stderr + two.stderr);
    assert.match(one.stdout, /^waiting for 1 open request to finish; Ctrl-C ends only this wait$/m);
    assert.match(one.stdout, /, has stopped$/m);
    assert.equal(await daemon.ended, 0);
  },
);

test(
  "service stop --dry-run names a manually started daemon and leaves it running",
  { skip: noLinux },
  async (t) => {
    const daemon = await startDaemon(t);
    const { code, stdout } = await homeWithSystemd(t, {}, daemon.home).service("stop", "--dry-run");
    assert.equal(code, 0);
    assert.equal(
      stdout,
      `stop the daemon that was started by hand, pid ${daemon.pid}, after its open requests finish\n`,
    );
    assert.equal((await daemon.status()).state, "serving");
  },
);

test(
  "service stop says so when nothing runs, with or without a service manager",
  { skip: noLinux },
  async (t) => {
    for (const systemctl of [[], [{ match: "*", code: 127 }]]) {
      const home = homeWithSystemd(t, { systemctl });
      for (const dryRun of [[], ["--dry-run"]])
        assert.deepEqual(await home.service("stop", ...dryRun), {
          code: 0,
          stdout: "tollkeeper is not running; there is nothing to stop\n",
          stderr: "",
        });
      assert.deepEqual(home.commands(), []);
    }
  },
);

test(
  "without a service manager, start, restart, status, logs and install name the daemon that was started by hand",
  { skip: noLinux },
  async (t) => {
    const daemon = await startDaemon(t);
    const home = homeWithSystemd(t, { systemctl: [{ match: "*", code: 127 }] }, daemon.home);
    for (const verb of ["start", "restart", "logs", "install"]) {
      const { code, stderr } = await home.service(verb);
      assert.equal(code, 1);
      const [error = "", ...hints] = stderr.split("\n");
      assert.match(
        error,
        new RegExp(
          `^error: systemd is not running .*, but tollkeeper is running: it was started by hand, pid ${daemon.pid}$`,
        ),
      );
      assert.deepEqual(
        hints,
        verb === "logs"
          ? [
              "hint: without a service, the log is on the terminal where tollkeeper was started",
              "      to have it in a file, start it with: tollkeeper serve --log-file ~/tollkeeper.log",
              "",
            ]
          : [
              "hint: to restart it, type: tollkeeper service stop, then: tollkeeper serve",
              "      to see what it is doing, type: tollkeeper status",
              "",
            ],
      );
    }
    const status = await home.service("status");
    assert.deepEqual([status.code, status.stderr], [1, ""]);
    assert.match(
      status.stdout,
      new RegExp(`^daemon +running, pid ${daemon.pid}, started by hand\nservice +systemd is not running `),
    );
    assert.match(
      (await home.service("status", "--json")).stderr,
      /^error: systemd is not running .* by hand/,
    );
  },
);
