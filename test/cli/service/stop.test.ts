import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { expectWhole, holdStreams } from "../../helpers/client/many-streams.ts";
import { RUNNING } from "../../service/systemd/fake-systemd.ts";
import { homeWithSystemd, noLinux, putInstallation } from "./commands.ts";

test("stop stops the service, and says when it starts again", { skip: noLinux }, async (t) => {
  const home = homeWithSystemd(t, { service: RUNNING });
  putInstallation(home);
  const { code, stderr } = await home.service("stop");
  assert.equal(code, 0);
  assert.match(stderr, /^note: it starts again at the next login/);
  assert.deepEqual(home.orders(), ["systemctl --user stop tollkeeper.socket tollkeeper.service"]);
});

test(
  "stop lets a daemon that was started by hand finish, with a service manager or without",
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
  "stop waits until the open exchanges have ended, also of a daemon that is stopping",
  { skip: noLinux },
  async (t) => {
    const streams = await holdStreams(t);
    const daemon = await startDaemon(t, { config: streams.config });
    const clients = await streams.open(daemon.port, 1);
    const { service } = homeWithSystemd(t, {}, daemon.home);
    const ended: string[] = [];
    const first = service("stop").finally(() => ended.push("first"));
    await daemon.until(/"msg":"stopping/);
    const second = service("stop");
    // By then the first one would be done if it did not wait.
    const { stdout } = await service("stop", "--dry-run");
    assert.match(stdout, new RegExp(`^stop the daemon that was started by hand, pid ${daemon.pid}: `));
    assert.deepEqual([ended, (await daemon.status()).openExchanges], [[], 1]);
    streams.finish();
    await expectWhole(clients);
    const [one, two] = [await first, await second];
    assert.deepEqual([one.code, two.code], [0, 0], one.stderr + two.stderr);
    assert.match(one.stdout, /^waiting for 1 open exchange; Ctrl-C leaves it to finish by itself$/m);
    assert.match(one.stdout, /, has stopped$/m);
    assert.equal(await daemon.ended, 0);
  },
);

test(
  "--dry-run shows a daemon that was started by hand, and leaves it alone",
  { skip: noLinux },
  async (t) => {
    const daemon = await startDaemon(t);
    const { code, stdout } = await homeWithSystemd(t, {}, daemon.home).service("stop", "--dry-run");
    assert.equal(code, 0);
    assert.equal(
      stdout,
      `stop the daemon that was started by hand, pid ${daemon.pid}: its open exchanges may finish first\n`,
    );
    assert.equal((await daemon.status()).state, "serving");
  },
);
